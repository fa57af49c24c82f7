import TransferModel
import Transfers

/// Looks from time to time whether folders are available again for which removals of sources were put off. On a thread
/// of its own: a dead mount stops only these looks.
final class FolderLook {
  private static let everyMs: Int64 = 30_000

  private let path: String
  private let clock: any TransferClock
  private let results = Mailbox<Bool>()
  private var isLooking = false
  private var nextMs: Int64 = 0

  init(_ path: String, _ clock: any TransferClock) { (self.path, self.clock) = (path, clock) }

  /// Whether the last look found a folder for an engine; told once. Begins the next look when it is time.
  func findsWork() -> Bool {
    if isLooking, let found = results.take(timeoutMs: 0)?.last {
      isLooking = false
      nextMs = clock.bootMs + Self.everyMs
      return found
    }
    if !isLooking, clock.bootMs >= nextMs { begin() }
    return false
  }

  private func begin() {
    isLooking = true
    WorkerThread { [path, clock, results] in results.put(Self.isAnyBack(path, clock)) }.detach()
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
