import TransferModel
import Transfers

/// What the daemon reads of its configuration, with all that takes time: each setting is parsed as a command line.
struct DaemonConfig: Sendable {
  let held: HeldConfig
  let watched: DaemonWatch.Watched

  init(
    _ watched: WatchOption, _ common: CommonOptions, _ context: Context, store: String
  ) throws(CommandFailure) {
    held = try HeldConfig(common.config, context, beside: Self.folder(store), watched: watched)
    self.watched = DaemonWatch.sources(of: held, store: store, context)
  }

  private static func folder(_ path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }
}

/// Reads the configuration again on its own thread: meanwhile the loop of the daemon notices the end of children,
/// stops when it is told to, and notifies the watchdog.
final class ConfigReload {
  private let read: @Sendable () throws(CommandFailure) -> DaemonConfig
  private let results = Mailbox<Result<DaemonConfig, CommandFailure>>()
  private var isReading = false
  /// It was asked for again: the files may have changed after they were read.
  private var isAskedAgain = false

  init(_ read: @escaping @Sendable () throws(CommandFailure) -> DaemonConfig) { self.read = read }

  func begin() {
    guard !isReading else {
      isAskedAgain = true
      return
    }
    isReading = true
    do throws(TransferError) {
      try WorkerThread(to: "read the configuration") { [read, results] in
        do throws(CommandFailure) { results.put(.success(try read())) } catch { results.put(.failure(error)) }
      }.detach()
    } catch {
      results.put(.failure(CommandFailure(error)))
    }
  }

  /// What was read; nil while nothing was, or when it has to be read again.
  func take() -> Result<DaemonConfig, CommandFailure>? {
    guard isReading, let result = results.take(timeoutMs: 0)?.last else { return nil }
    isReading = false
    guard isAskedAgain else { return result }
    isAskedAgain = false
    begin()
    return nil
  }
}
