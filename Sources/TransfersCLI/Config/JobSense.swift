import TransferModel
import Transfers

/// Whether a job can run: the checks of its run, except for those of disks, servers and credentials. Both `config
/// check` and the run use it, so that what the first accepts is not refused by the second.
enum JobSense {
  /// The first fault; nil if there is none.
  static func fault(_ job: ConfigSection, _ context: Context) -> ConfigFault? {
    // What is missing was reported already.
    guard job["to"] != nil, job["from"] ?? job["files_from"] ?? job["files_from0"] != nil else { return nil }
    if let problem = JobCallbacks.problem(job) {
      return ConfigFault(place: problem.setting.place, message: problem.text)
    }
    do throws(CommandFailure) {
      let line = try JobLine(job, context)
      if let fault = try changingDestination(job, context) { return fault }
      if job.direction == .upload {
        let (sources, all) = try line.uploads([])
        for options in all { try failing { () throws(TransferError) in try options.check(sources) } }
      } else {
        for (command, inner) in try line.parsed([]) {
          guard let pull = command as? PullCommand else { continue }
          guard !pull.files.isStream else { throw .usage("a download job needs a folder") }
          _ = try pull.files.download(inner)
        }
      }
      return nil
    } catch { return fault(error, job, context.config) }
  }

  /// The fault of a name that two days share although the destination differs: a batch has one destination.
  private static func changingDestination(
    _ job: ConfigSection, _ context: Context
  ) throws(CommandFailure) -> ConfigFault? {
    guard let name = job["name"], let to = job["to"], to.values.count == 1 else { return nil }
    // The URL of a named destination has fields, too.
    let isNamed = job.direction == .upload && !to.value.contains("://")
    let plain = to.value + (isNamed ? context.config.plainURL(to.value, .destination) : "")
    guard ConfigFields.ofDate.contains(where: { plain.contains("{\($0)}") }) else { return nil }
    var places: [String: String] = [:]
    // Within two years, all that is less than a whole date occurs again.
    for day in 0..<Int64(731) {
      var fields = ConfigFields(
        job: job.name, labels: BatchOptions.table(job["labels"]?.values ?? []),
        wallMs: context.clock.wallMs + day * 86_400_000)
      fields.batch = try fields.fill(name.value)
      let place = isNamed ? try context.config.url(to.value, .destination, fields) : try fields.fill(to.value)
      guard let batch = fields.batch, places.updateValue(place, forKey: batch) ?? place != place else { continue }
      let message = "\"name\" is the same on days with different values of \"to\", and a batch has one destination"
      return ConfigFault(place: name.place, message: "\(message); give it the same date fields, or leave it out")
    }
    return nil
  }

  /// - Throws: `.config` with the position of the fault.
  static func refuse(_ job: ConfigSection, _ context: Context) throws(CommandFailure) {
    guard let fault = Self.fault(job, context) else { return }
    throw CommandFailure(.config, "\(fault.place): \(fault.message)", remedy: context.configCheck)
  }

  /// The first key that a text names, or the setting with the field or folder that it is about.
  private static func place(in text: String, _ job: ConfigSection) -> ConfigPlace? {
    let named = job.settings.compactMap { setting in
      let found = [text.firstRange(of: "\"\(setting.key)\""), text.firstRange(of: "\"\(setting.key) ")]
      return found.compactMap { $0?.lowerBound }.min().map { (at: $0, place: setting.place) }
    }
    if let first = named.min(by: { $0.at < $1.at }) { return first.place }
    if text.hasPrefix("move sources to"), let after = job["after"] { return after.place }
    guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}") else { return nil }
    let field = text[open...close]
    return job.settings.first { $0.values.contains { $0.contains(field) } }?.place ?? job["to"]?.place
  }

  /// At the first key that the text names, in the words of the configuration.
  private static func fault(_ failure: CommandFailure, _ job: ConfigSection, _ config: Config) -> ConfigFault {
    var text = failure.text
    // The parser's errors begin with the settings that may have caused them, each with its position.
    let others = Array(config.destinations.values) + Array(config.sources.values)
    let all = job.settings + others.flatMap(\.settings) + Array(config.defaults.values)
    let culprit = all.first { text.hasPrefix("\($0.place): ") }
    if culprit != nil, let end = text.ranges(of: "\": ").last { text = String(text[end.upperBound...]) }
    let remedy = failure.remedy
    if !remedy.isEmpty, !remedy.hasPrefix("transfers "), !remedy.hasPrefix("--") { text += "; \(remedy)" }
    for setting in job.settings.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
      guard let option = setting.option else { continue }
      text = text.replacing("\"--\(option) ", with: "\"\(setting.key) ")
        .replacing("--\(option)", with: "\"\(setting.key)\"")
    }
    let foreign = culprit.flatMap { job.settings.contains($0) ? nil : $0.place }
    return ConfigFault(place: foreign ?? place(in: text, job) ?? job.place, message: text)
  }
}

extension Context {
  /// The command that checks the configuration of this command.
  var configCheck: String {
    let option = ConfigFiles.option(arguments).map { " \(Selection.quoted(EscapedArgument.shown($0)))" } ?? ""
    return "transfers config check\(option)"
  }
}
