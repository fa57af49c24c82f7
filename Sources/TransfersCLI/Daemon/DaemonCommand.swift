import ArgumentParser
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers daemon`: runs jobs by their timetables, and sends what anybody records.
struct DaemonCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "daemon", abstract: "Run jobs at their times and send what is recorded, until told to stop.",
    discussion: """
      Stays in the foreground, for systemd (Type=notify, with WatchdogSec= and ExecReload=kill -HUP) and other supervisors. \
      Jobs with "every" or "cron" in the configuration are run when they are due, each at most once at a time; what any \
      other command records is sent at once. Both are done by processes that it starts ("job run", "run") and that end \
      with it. While nothing is to be done there is no engine, and nothing but a look whether the ledger has changed.

      Jobs with "watch: true", and what --watch names, also run within a second or two after something has appeared in \
      their folders. Events are a hint only: a job looks at its sources as always, also every 5 minutes when it has no \
      times of its own, and nothing is sent that it would not send.

      SIGTERM and Ctrl-C let running requests end, a second one stops at once. SIGHUP reads the configuration again; a \
      wrong one is refused with what is wrong in it, and the old one stays in force.

      The exit code is 0 when nothing is left, 5 when files are left (the next start goes on), 6 when a daemon is there \
      already, 7 for a ledger that cannot be opened, 78 for a wrong configuration.

      Examples:
        transfers daemon
        transfers daemon --watch /data/out=https://files.example/in/
        transfers daemon --config /etc/transfers/config.yaml --store /var/lib/transfers/transfers.db
      """)

  @Option(
    name: .customLong("watch"),
    help: ArgumentHelp(
      "Send what appears in a folder, as a job would with \"from\", \"to\" and \"watch: true\" (its name begins with \"watch-\"); repeatable.",
      valueName: "dir=dest"))
  var watches: [String] = []

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    if common.output != nil { throw .usage("daemon has no result; leave out --output") }
    let watched = try WatchOption(watches)
    let path = try common.storePath(context)
    try failing { () throws(TransferError) in try OpenStore(at: path, .create, clock: context.clock) }.close()
    let lock = try Self.lock(path)
    defer { close(lock) }
    let ledger = try LedgerAccess.open(path, context)
    defer { ledger.close() }
    let loop = try DaemonLoop(ledger, watched, common, context)
    try loop.run()
  }

  /// Ends with the process. Not that of the engine, which is another process.
  private static func lock(_ store: String) throws(CommandFailure) -> Int32 {
    let path = store + ".daemon"
    let descriptor = open(NameBytes(path).terminated, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .store, "open \"\(printable(path))\": \(printable(String(cString: strerror(errno))))",
        remedy: "allow writing in the folder of the ledger")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw CommandFailure(.locked, "another daemon works for the ledger", remedy: "stop it, or use --store")
    }
    return descriptor
  }
}
