import ArgumentParser
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers job unit`.
struct JobUnitCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "unit", abstract: "Print a systemd service and a timer that run a job.",
    discussion: """
      As a user, write them into ~/.config/systemd/user/, then run "systemctl --user enable --now \
      transfers-NAME.timer". The service treats 0 and 5 as success (work left: the next run continues); the timer \
      catches up on a missed run. The service contains the configuration, the ledger and the TRANSFERS_ variables of \
      this command, because systemd does not pass your environment on; credentials from the environment (AWS_...) are \
      not written: use a file, a command or credential:NAME instead.

      Examples:
        transfers job unit nightly --on-calendar '*:0/5'
        transfers job unit nightly --only service \\
          -o ~/.config/systemd/user/transfers-nightly.service
        transfers job unit nightly --only timer \\
          -o ~/.config/systemd/user/transfers-nightly.timer
      """)

  enum Part: String, ExpressibleByArgument, CaseIterable, Sendable { case service, timer }

  @Argument(help: ArgumentHelp("A job of the configuration.", valueName: "name")) var name: String
  @Option(help: ArgumentHelp("When it runs, in the format of systemd.time.", valueName: "times"))
  var onCalendar = "*:0/5"
  @Option(help: ArgumentHelp("Print only this one.", valueName: "unit")) var only: Part?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard onCalendar.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }), !onCalendar.isEmpty else {
      throw ValidationError("--on-calendar takes one line in the format of systemd.time(7)")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let job = try context.config.job(name, check: context.configCheck)
    var words = [Self.program, "job", "run"]
    if let config = common.config ?? context.variable("TRANSFERS_CONFIG") {
      words += ["--config", try Self.absolute(config, "--config")]
    }
    // Always given, because the default depends on variables that a service does not have.
    words += ["--store", try Self.absolute(try common.storePath(context), "--store")]
    let value = JobUnitOutput(
      job: job.name, command: words + [job.name], environment: try Self.variables(of: job, context),
      calendar: onCalendar,
      only: only)
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }

  /// A service runs in another working directory.
  private static func absolute(_ path: String, _ option: String) throws(CommandFailure) -> String {
    guard !EscapedArgument.isEscaped(path) else {
      throw .usage("\(option) needs a path in UTF-8: a unit is text", remedy: "rename it")
    }
    return AbsolutePath.of(path)
  }

  /// Variables of the environment for the job's runs: without output options and those for a single run.
  private static func variables(
    of job: ConfigSection, _ context: Context
  ) throws(CommandFailure) -> [(name: String, value: String)] {
    let common = OptionList(of: CommonOptions.self)
    let lists = [
      OptionList(of: JobRunCommand.self),
      job.direction == .upload ? OptionList(of: PushCommand.self) : OptionList(of: PullCommand.self),
    ]
    var found: [(name: String, value: String)] = []
    // The folder of the user's configuration.
    if let folder = context.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/"), !EscapedArgument.isEscaped(folder) {
      found.append(("XDG_CONFIG_HOME", folder))
    }
    for (name, value) in context.environment.sorted(by: { $0.key < $1.key }) {
      let long = EnvironmentOptions.long(name)
      guard name.hasPrefix(EnvironmentOptions.prefix), !value.isEmpty, common.option(long: long) == nil,
        !["dry-run", "plan"].contains(long),
        lists.contains(where: { $0.option(long: long)?.mustBeTyped == false })
      else { continue }
      guard !EscapedArgument.isEscaped(value) else {
        throw .usage("\(name) is not UTF-8, and a unit is text", remedy: "set it in the configuration")
      }
      found.append((name, value))
    }
    return found
  }

  /// A service starts no program by a relative path.
  private static var program: String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { return "/usr/bin/transfers" }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The two units.
struct JobUnitOutput: OutputValue {
  let job: String
  let command: [String]
  /// Variables of the service.
  let environment: [(name: String, value: String)]
  let calendar: String
  let only: JobUnitCommand.Part?

  static let form = ReportForm<JobUnitOutput>(
    "transfers.job.unit/1",
    [
      .facts([
        .text("job") { $0.job }, .text("service") { $0.service }, .text("timer") { $0.timer },
        .text("on_calendar") { $0.calendar },
      ]),
      .words { $0.text },
    ])

  private var text: String {
    switch only {
    case .service: service
    case .timer: timer
    case nil: "# transfers-\(job).service\n\(service)\n# transfers-\(job).timer\n\(timer)"
    }
  }

  private var service: String {
    """
    [Unit]
    Description=transfers job \(job)
    Wants=network-online.target
    After=network-online.target

    [Service]
    Type=oneshot
    \(variables)ExecStart=\(command.map(Self.quoted).joined(separator: " "))
    SuccessExitStatus=5
    TimeoutStopSec=120
    KillMode=mixed

    """
  }

  private var variables: String {
    environment.map { "Environment=\(Self.assigned("\($0.name)=\($0.value)"))\n" }.joined()
  }

  private var timer: String {
    """
    [Unit]
    Description=Timer of transfers job \(job)

    [Timer]
    OnCalendar=\(calendar.replacing("%", with: "%%"))
    Persistent=true
    RandomizedDelaySec=30

    [Install]
    WantedBy=timers.target

    """
  }

  /// One word of ExecStart, in which `%`, `$`, quotes and backslashes mean something.
  /// Source: systemd.service(5), "Command lines".
  private static func quoted(_ word: String) -> String {
    let text = assigned(word).replacing("$", with: "$$")
    let isPlain = text == "\"\(word)\"" && !word.isEmpty && !word.contains { $0.isWhitespace || "'\";".contains($0) }
    return isPlain ? word : text
  }

  /// A variable in quotes, in which `%` and backslashes mean something, and `$` does not.
  /// Source: systemd.exec(5), "Environment="; systemd.syntax(7), "Quoting".
  private static func assigned(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "%": "%%"
      case "\n": "\\n"
      case "\t": "\\t"
      case let other where other.value < 0x20 || other.value == 0x7F:
        "\\x" + (other.value < 0x10 ? "0" : "") + String(other.value, radix: 16)
      case let other: String(Character(other))
      }
    }
    return "\"\(escaped.joined())\""
  }
}
