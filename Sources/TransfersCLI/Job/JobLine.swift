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

  func parsed(_ options: [String]) throws(CommandFailure) -> Parsed {
    let words = [job.direction == .upload ? "push" : "pull"] + options + ["--"] + (try places())
    var inner = Context(
      arguments: words, environment: context.environment, out: context.out, err: context.err, machine: context.machine,
      signals: context.signals)
    inner = inner.configured(context.config)
    inner.job = job.name
    let line = try ArgumentLine(inner, job: filled)
    do { return (try RootCommand.parseAsRoot(line.arguments), inner.parsing(line.arguments)) } catch {
      let lines = RootCommand.message(for: error).split(whereSeparator: \.isNewline)
      throw line.failure(printable(lines.joined(separator: " ")))
    }
  }

  /// The place where a plan of the job would send its files now.
  func plannedPlace() throws(CommandFailure) -> PlanFile.Place {
    let (command, inner) = try parsed([])
    guard let push = command as? PushCommand else {
      throw .usage("only uploads can be planned ahead", remedy: "transfers job run -n \(job.name)")
    }
    return try PlanFile.Place(try push.batch.upload(inner).settings)
  }

  /// The words for the sources and the destination.
  private func places() throws(CommandFailure) -> [String] {
    var words = job["from"]?.values ?? []
    let to = job["to"]?.value ?? ""
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

  /// Source and destination for display.
  static func places(_ job: ConfigSection) -> (from: String, to: String) {
    let from = (job["from"] ?? job["files_from"] ?? job["files_from0"])?.values ?? []
    return (
      RecordedArguments.masked(from).joined(separator: ", "), RecordedArguments.masked([job["to"]?.value ?? ""])[0]
    )
  }
}
