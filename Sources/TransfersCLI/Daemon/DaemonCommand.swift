import ArgumentParser
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers daemon`: runs jobs at their times, and sends files that other commands record.
struct DaemonCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "daemon", abstract: "Run jobs at their times and send recorded files, until stopped.",
    discussion: """
      Stays in the foreground, for systemd (Type=notify, with WatchdogSec= and ExecReload=kill -HUP) and other supervisors. \
      Jobs with "every" or "cron" in the configuration run when they are due, each at most once at a time; files that \
      other commands record are sent at once. Child processes do both ("job run", "run"); they end with the daemon. \
      While there is nothing to do, no engine runs: the daemon only checks whether the ledger has changed.

      Jobs with "watch: true", and folders given with --watch, also run within a second or two after something has \
      appeared in their folders. Events are only a hint: a job scans its sources as usual, also every 5 minutes if it \
      has no times of its own, and sends nothing that it would not send otherwise.

      SIGTERM and Ctrl-C let running requests end; a second one stops immediately. SIGHUP reloads the configuration; \
      an invalid one is refused with its errors, and the old one stays in force.

      The exit code is 0 if nothing is left, 5 if files are left (the next start continues), 6 if another daemon is \
      running, 7 for a ledger that cannot be opened, 78 for an invalid configuration.

      Examples:
        transfers daemon
        transfers daemon --watch /data/out=https://files.example/in/
        transfers daemon --config /etc/transfers/config.yaml \\
          --store /var/lib/transfers/transfers.db
      """)

  @Option(
    name: .customLong("watch"),
    help: ArgumentHelp(
      "Send files that appear in a folder, like a job with \"from\", \"to\" and \"watch: true\", named \"watch-…\"; repeatable.",
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

  /// Takes the daemon's lock, which the end of the process releases. The engine, another process, has its own lock.
  private static func lock(_ store: String) throws(CommandFailure) -> Int32 {
    let path = store + ".daemon"
    let descriptor = open(NameBytes(path).terminated, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .store, "open \"\(printable(path))\": \(printable(systemText(errno)))",
        remedy: "allow writing in the folder of the ledger")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw CommandFailure(.locked, "another daemon is using the ledger", remedy: "stop it, or use --store")
    }
    return descriptor
  }
}
