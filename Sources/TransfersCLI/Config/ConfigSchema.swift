import TransferModel
import Transfers

/// A key that a configuration may have.
struct ConfigKey: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case text
    /// An absolute path, or one below the home folder (`~/…`): a job runs in any working directory.
    case path
    case flag
    /// A string or a list of strings.
    case list
    case paths
    /// A map of texts, each becomes `key=value`.
    case map
    case choice([String])
    /// A list of maps, each with a pattern (`match`) and settings of objects; each setting becomes one rule.
    case rules
    /// `keep`, `delete`, or `move:` with a path like ``path``.
    case fate
  }

  let kind: Kind
  /// The long name of the option that it sets; nil if it sets none.
  var option: String?
  let about: String
}

/// The keys that a configuration may have. A destination, a source and a job accept the options of `push` and `pull` by
/// their names: nothing here repeats them.
struct ConfigSchema: Sendable {
  let destination: [String: ConfigKey]
  let source: [String: ConfigKey]
  let upload: [String: ConfigKey]
  let download: [String: ConfigKey]
  let defaults: [String: ConfigKey]

  static let top = ConfigSection.Kind.allCases.map(\.plural) + ["defaults"]

  /// The schema for the options that the commands have.
  static let current = ConfigSchema()

  init() {
    let push = OptionList(of: PushCommand.self).options.filter { !Self.perRun.contains($0.long) }
    let pull = OptionList(of: PullCommand.self).options.filter { !Self.perRun.contains($0.long) }
    let common = Set(OptionList(of: CommonOptions.self).options.map(\.long))
    func keys(_ options: [OptionList.Option], _ names: (String) -> Bool) -> [String: ConfigKey] {
      Self.keys(options.filter { names($0.long) })
    }
    let ofServer: Set<String> = [
      "auth", "ca-file", "via", "input", "url-command", "workers", "rate", "rate-group", "segments", "rule",
    ]
    let toServer = ofServer.union(ProtocolCatalog.options.map(\.long)).union(["known-at", "known-by"])
    let fromServer = ofServer.union(ProtocolCatalog.downloadOptions.map(\.long))
    let url = ConfigKey(
      kind: .text, about: "its URL; fields: {date}, {year}, {month}, {day}, {batch}, {job}, {label.KEY}")
    destination = keys(push) { toServer.contains($0) }.merging(["url": url]) { $1 }
    source = keys(pull) { fromServer.contains($0) }.merging(["url": url]) { $1 }
    upload = keys(push) { !common.contains($0) }.merging(Self.ofJob) { $1 }
      .merging(Self.ofUpload) { $1 }
    download = keys(pull) { !common.contains($0) }.merging(Self.ofJob) { $1 }
      .merging(["from": ConfigKey(kind: .list, about: "URLs, or SOURCE:path")]) { $1 }
    var defaults = Self.keys((push + pull).filter { !Self.perBatch.contains($0.long) && !$0.mustBeTyped })
    defaults["store"] = ConfigKey(kind: .path, about: "the ledger")
    defaults["syslog"] = ConfigKey(kind: .flag, about: "whether jobs write a line to the system log (default: true)")
    self.defaults = defaults
  }

  /// Options that are given for each run.
  private static let perRun: Set<String> = [
    "dry-run", "no-run", "wait", "no-wait", "output", "columns", "json", "config", "store", "trust-copy", "help",
    "version", "into-tar", "no-wait-for-settling",
  ]
  /// Options that belong to one batch.
  private static let perBatch: Set<String> = [
    "name", "label", "files-from", "files-from0", "list-format", "base", "base-url", "digest", "overwrite",
    "url-command", "input", "via", "stage", "growing", "rule", "known-at", "known-by",
  ]

  private static let ofUpload: [String: ConfigKey] = [
    "from": ConfigKey(kind: .paths, about: "files, folders and patterns to send"),
    "to": ConfigKey(
      kind: .list,
      about: "a named destination (NAME, NAME:sub/path) or a URL; each file goes to all destinations of a list"),
    "quota": ConfigKey(
      kind: .text, about: "how much it may send a day, week or month by local time, over all runs: 200GiB/day"),
    "watch": ConfigKey(
      kind: .flag, about: "\"transfers daemon\" also runs it when something appears in \"from\" (every: 5m by default)"),
  ]

  private static let ofJob: [String: ConfigKey] = [
    "to": ConfigKey(kind: .text, about: "the folder to download to"),
    "direction": ConfigKey(kind: .choice(["upload", "download"]), about: "upload, the default, or download"),
    "if_locked": ConfigKey(
      kind: .choice(["skip", "wait", "fail"]),
      about: "what to do if another engine owns the ledger (default: skip)"),
    "on_result": ConfigKey(
      kind: .list, about: "receivers of the result of each run: \(CallbackText.kinds)"),
    "ping": ConfigKey(
      kind: .text, about: "the URL of a dead man's switch, or a reference to it (file:PATH, env:NAME)"),
    "mail": ConfigKey(
      kind: .list,
      about: "recipients of a mail when runs begin to fail or succeed again: user@host.example, or a local user"),
    "on_result_remind": ConfigKey(
      kind: .text, about: "call \"on_result\" for changed results only, and for the same one after this time: 24h"),
    "mail_remind": ConfigKey(
      kind: .text,
      about: "when the same failure is mailed again (default: 24h; with mail_on: result each run is mailed)"),
    "mail_on": ConfigKey(
      kind: .choice(["failure", "result"]), about: "whether runs that end with ok are mailed too (default: failure)"),
    "sendmail": ConfigKey(
      kind: .path, about: "the program that takes mails, as sendmail -i -t (default: /usr/sbin/sendmail)"),
    "every": ConfigKey(
      kind: .text, about: "interval between starts by \"transfers daemon\": 5m, 1h30m"),
    "cron": ConfigKey(
      kind: .text,
      about: "times at which \"transfers daemon\" runs it, in the format of crontab(5): \"30 2 * * mon-fri\""
    ),
    "prom_file": ConfigKey(kind: .path, about: "a file for the textfile collector of Prometheus"),
    "syslog": ConfigKey(kind: .flag, about: "whether it writes a line to the system log (default: true)"),
  ]

  func keys(_ kind: ConfigSection.Kind, _ direction: Direction) -> [String: ConfigKey] {
    switch kind {
    case .destination: destination
    case .source: source
    case .job: direction == .upload ? upload : download
    }
  }

  /// `max_duration` from `--max-duration`; labels, inputs and rules get a plural name.
  static func key(_ option: String) -> String {
    switch option {
    case "label": "labels"
    case "input": "inputs"
    case "rule": "rules"
    default: option.replacing("-", with: "_")
    }
  }

  private static let ofPaths: Set<String> = ["ca-file", "files-from", "files-from0", "base", "known-at"]

  private static func keys(_ options: [OptionList.Option]) -> [String: ConfigKey] {
    var keys: [String: ConfigKey] = [:]
    for option in options {
      // `--no-x` beside `--x` is `x: false`.
      if option.long.hasPrefix("no-"), options.contains(where: { $0.long == option.long.dropFirst(3) }) { continue }
      keys[key(option.long)] = ConfigKey(kind: kind(of: option), option: option.long, about: option.help)
    }
    return keys
  }

  private static func kind(of option: OptionList.Option) -> ConfigKey.Kind {
    if option.long == "label" { return .map }
    if option.long == "rule" { return .rules }
    guard option.takesValue else { return .flag }
    if option.long == "after" { return .fate }
    if ofPaths.contains(option.long) { return option.isRepeatable ? .paths : .path }
    return option.isRepeatable ? .list : .text
  }
}
