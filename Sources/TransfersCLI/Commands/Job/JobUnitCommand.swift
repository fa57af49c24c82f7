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
      For the user: into ~/.config/systemd/user/, then "systemctl --user enable --now transfers-NAME.timer". The service \
      ends well with 0 and 5 (work left: the next run goes on); the timer catches up on a run that was missed.

      Examples:
        transfers job unit nightly --on-calendar '*:0/5'
        transfers job unit nightly --only service -o ~/.config/systemd/user/transfers-nightly.service
        transfers job unit nightly --only timer -o ~/.config/systemd/user/transfers-nightly.timer
      """)

  enum Part: String, ExpressibleByArgument, CaseIterable, Sendable { case service, timer }

  @Argument(help: ArgumentHelp("A job of the configuration.", valueName: "name")) var name: String
  @Option(help: ArgumentHelp("When it runs, as systemd.time writes it (default: *:0/5).", valueName: "times"))
  var onCalendar = "*:0/5"
  @Option(help: ArgumentHelp("Print only this one.", valueName: "unit")) var only: Part?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard onCalendar.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }), !onCalendar.isEmpty else {
      throw ValidationError("--on-calendar takes one line, as systemd.time(7) writes it")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let job = try context.config.job(name)
    var words = [Self.program, "job", "run"]
    if let config = common.config { words += ["--config", config] }
    if let store = common.store { words += ["--store", store] }
    let value = JobUnitOutput(job: job.name, command: words + [job.name], calendar: onCalendar, only: only)
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
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
    ExecStart=\(command.map(Self.quoted).joined(separator: " "))
    SuccessExitStatus=5
    TimeoutStopSec=120
    KillMode=mixed

    """
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
    let doubled = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
      .replacing("$", with: "$$")
    let isPlain = doubled == word && !word.contains { $0.isWhitespace || "'\";".contains($0) }
    return isPlain ? word : "\"\(doubled)\""
  }
}
