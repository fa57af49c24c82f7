import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// What the daemon knows of folders that are back.
@Suite struct FolderLookTests {
  private let clock = StillClock(1_000)
  private let isBack = Lock(true)

  private func makeLook() -> FolderLook {
    FolderLook(clock) { [isBack] in isBack.withLock { $0 } }
  }

  /// Asks until the result of a look is known to be `found`; at most a minute.
  private func awaits(_ found: Bool, _ look: FolderLook) -> Bool {
    let endMs = SystemClock().bootMs + 60_000
    while look.findsWork() != found, SystemClock().bootMs < endMs { sched_yield() }
    return look.findsWork() == found
  }

  /// A running job keeps the engine from being started: the finding is still there when the job has ended.
  @Test func aFindingRemainsUntilAnEngineIsStarted() {
    let look = makeLook()
    #expect(!look.findsWork(), "the look has only begun")
    #expect(awaits(true, look))
    #expect(look.findsWork())
    look.taken()
    #expect(!look.findsWork())
  }

  @Test func aLaterLookReplacesTheFinding() {
    let look = makeLook()
    #expect(awaits(true, look))
    isBack.withLock { $0 = false }
    clock.advance(ms: 30_000)
    #expect(awaits(false, look))
  }
}
