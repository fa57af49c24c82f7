import TransferModel
import Transfers

/// Looks from time to time whether folders are available again for which removals of sources were put off. On a thread
/// of its own: a dead mount stops only these looks.
final class FolderLook {
  private static let everyMs: Int64 = 30_000

  private let clock: any TransferClock
  private let isAnyBack: @Sendable () -> Bool
  private let results = Mailbox<Bool>()
  private var isLooking = false
  private var nextMs: Int64 = 0
  private var hasFound = false
  /// An engine was started after the running look began, which may therefore find what the engine removes.
  private var isOutdated = false

  convenience init(_ path: String, _ clock: any TransferClock) {
    self.init(clock) { FolderLook.isAnyBack(path, clock) }
  }

  init(_ clock: any TransferClock, _ isAnyBack: @escaping @Sendable () -> Bool) {
    (self.clock, self.isAnyBack) = (clock, isAnyBack)
  }

  /// Whether the last look found a folder for an engine, and none was started since: it may have to wait for a job.
  /// Begins the next look when it is time.
  func findsWork() -> Bool {
    if isLooking, let found = results.take(timeoutMs: 0)?.last {
      isLooking = false
      nextMs = clock.bootMs + Self.everyMs
      hasFound = found && !isOutdated
      isOutdated = false
    }
    if !isLooking, clock.bootMs >= nextMs { begin() }
    return hasFound
  }

  /// An engine was started.
  func taken() {
    hasFound = false
    isOutdated = isLooking
  }

  private func begin() {
    nextMs = clock.bootMs + Self.everyMs
    // Without a thread the next look is due at its time.
    guard let thread = try? WorkerThread(to: "look for folders", { [isAnyBack, results] in results.put(isAnyBack()) })
    else { return }
    thread.detach()
    isLooking = true
  }

  /// What is wrong with the ledger is noticed by the daemon itself.
  private static func isAnyBack(_ path: String, _ clock: any TransferClock) -> Bool {
    do throws(TransferError) {
      let store = try OpenStore(at: path, .readOnly, clock: clock)
      defer { store.close() }
      return try store.isAnyFolderBack(nowMs: clock.wallMs)
    } catch {
      return false
    }
  }
}
