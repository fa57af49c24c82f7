import HTTPServer
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A cache of rendered answers. An idle ledger costs nothing: unchanged pages are not rendered again, however many
/// windows are open, and slow pages are reused for twenty times as long as they took.
final class ServePages: Sendable {
  struct Page: Sendable {
    let tag: String
    let body: [UInt8]
    fileprivate let mark: StoreMark
    fileprivate let untilMs, notBeforeMs: Int64
  }

  private struct State {
    var pages: [String: Page] = [:]
    var number: Int64 = 0
    /// How often the cache was cleared.
    var age = 0
  }

  /// Maximum age, because deadlines pass and engines crash without a change of the ledger.
  private static let longestMs: Int64 = 10_000
  /// A page of this cost, rendered once a second, uses a twentieth of a core.
  private static let cheapMs: Int64 = 50
  private static let limit = 32
  private let state = Lock(State())
  /// Tags are valid for this process only.
  private let prefix = String(ServeSessions.newToken().prefix(8))
  private let clock: any TransferClock

  init(_ clock: any TransferClock) { self.clock = clock }

  /// The page cached under this name, or a new one; `make` gets its tag.
  func page(
    _ name: String, _ mark: StoreMark, _ make: (_ tag: String) throws(CommandFailure) -> [UInt8]
  ) throws(CommandFailure) -> Page {
    let nowMs = clock.bootMs
    let (kept, number, age) = state.withLock { state -> (Page?, Int64, Int) in
      state.number += 1
      return (state.pages[name], state.number, state.age)
    }
    if let kept, nowMs < kept.notBeforeMs || kept.mark == mark && nowMs < kept.untilMs { return kept }
    let tag = "\"\(prefix)-\(number)\""
    let beganMs = Self.threadMs
    let body = try make(tag)
    let tookMs = Self.threadMs - beganMs
    let page = Page(
      tag: tag, body: body, mark: mark, untilMs: nowMs + max(Self.longestMs, 20 * tookMs),
      notBeforeMs: nowMs + (tookMs > Self.cheapMs ? 20 * tookMs : 0))
    state.withLock { state in
      // Rendered before a change, so it may not show that change.
      guard state.age == age else { return }
      if state.pages.count >= Self.limit { state.pages = state.pages.filter { $0.value.untilMs > nowMs } }
      if state.pages.count >= Self.limit { state.pages = [:] }
      state.pages[name] = page
    }
    return page
  }

  /// Processor time of this thread: the load of other processes must not count as the cost of a page.
  private static var threadMs: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  /// Clears the cache after a change through this server.
  func forget() {
    state.withLock { state in
      state.pages = [:]
      state.age += 1
    }
  }
}
