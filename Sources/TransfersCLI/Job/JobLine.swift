import ArgumentParser
import TransferModel
import Transfers

/// Expands a job into its command: `push` or `pull` with the settings of the configuration, over which the environment
/// takes precedence.
struct JobLine {
  let job: ConfigSection
  /// The section with its fields filled in.
  private let filled: ConfigSection
  private let context: Context
  private let fields: ConfigFields

  init(_ job: ConfigSection, _ context: Context) throws(CommandFailure) {
    self.job = job
    var context = context
    context.job = job.name
    self.context = context
    var fields = ConfigFields(job: job.name, wallMs: context.clock.wallMs)
    fields.labels = BatchOptions.table(job["labels"]?.values ?? [])
    var settings: [ConfigSetting] = []
    for setting in job.settings {
      let values = setting.key == "name" ? [try fields.fill(setting.value)] : setting.values
      settings.append(
        ConfigSetting(key: setting.key, option: setting.option, values: values, place: setting.place))
    }
    filled = ConfigSection(kind: .job, name: job.name, place: job.place, settings: settings)
    fields.batch = filled["name"]?.value
    self.fields = fields
  }

  /// A command, and the context to run it in.
  typealias Parsed = (command: any ParsableCommand, context: Context)

  /// One command for each destination of an upload, in the order of the configuration; one for a download.
  func parsed(_ options: [String]) throws(CommandFailure) -> [Parsed] {
    if let fault = JobDestinations.faults(job, context.config).first {
      throw CommandFailure(.config, "\(fault.place): \(fault.message)", remedy: context.configCheck)
    }
    var all: [Parsed] = []
    for to in job["to"]?.values ?? [""] { all.append(try parsed(options, to: to)) }
    return all
  }

  private func parsed(_ options: [String], to: String) throws(CommandFailure) -> Parsed {
    let (line, inner) = try arguments(options, to: to)
    do { return (try RootCommand.parseAsRoot(line.arguments), inner.parsing(line.arguments)) } catch {
      throw line.failure(ParserMessage(RootCommand.message(for: error)))
    }
  }

  /// The options that the command gets besides the typed ones, for each of its destinations.
  func environments() throws(CommandFailure) -> [EnvironmentOptions] {
    var all: [EnvironmentOptions] = []
    for to in job["to"]?.values ?? [""] { all.append(try arguments([], to: to).line.environment) }
    return all
  }

  private func arguments(
    _ options: [String], to: String
  ) throws(CommandFailure) -> (line: ArgumentLine, inner: Context) {
    let words = [job.direction == .upload ? "push" : "pull"] + options + ["--"] + (try places(to))
    var inner = Context(
      arguments: words, environment: context.environment, out: context.out, err: context.err, machine: context.machine,
      signals: context.signals)
    inner = inner.configured(context.config)
    inner.job = job.name
    return (try ArgumentLine(inner, job: filled), inner)
  }

  /// The sources of an upload, and the options for each of its destinations.
  /// - Throws: `.usage` for a download.
  func uploads(_ options: [String]) throws(CommandFailure) -> (sources: [NameBytes], each: [UploadOptions]) {
    var (sources, all): ([NameBytes], [UploadOptions]) = ([], [])
    for (command, inner) in try parsed(options) {
      guard let push = command as? PushCommand else {
        throw .usage("only uploads can be planned ahead", remedy: "transfers job run -n \(job.name)")
      }
      sources = push.batch.namedSources
      all.append(try push.batch.upload(inner))
    }
    return (sources, all)
  }

  /// The places where a plan of the job would send its files now.
  func plannedPlaces() throws(CommandFailure) -> [PlanFile.Place] { try PlanFile.places(of: try uploads([]).each) }

  /// The words for the sources and the destination.
  private func places(_ to: String) throws(CommandFailure) -> [String] {
    var words = job["from"]?.values ?? []
    if job.direction == .download {
      for index in words.indices where words[index].contains("://") { words[index] = try fields.fill(words[index]) }
      words.append(try fields.fill(folder(to)))
    } else {
      words.append(to.contains("://") ? try fields.fill(to) : to)
    }
    return words.map { EscapedArgument.encode(Array($0.utf8)) }
  }

  private func folder(_ text: String) -> String {
    guard text.hasPrefix("~/"), let home = context.variable("HOME") else { return text }
    return home + text.dropFirst(1)
  }

  /// Sources and destinations for display.
  static func places(_ job: ConfigSection) -> (from: String, to: String) {
    let from = (job["from"] ?? job["files_from"] ?? job["files_from0"])?.values ?? []
    func shown(_ words: [String]) -> String { RecordedArguments.masked(words).joined(separator: ", ") }
    return (shown(from), shown(job["to"]?.values ?? []))
  }
}
