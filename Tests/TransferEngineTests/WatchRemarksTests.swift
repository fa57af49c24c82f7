import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct WatchRemarksTests {
  @Test func eachRemarkIsMadeOnce() {
    var remarks = WatchRemarks()
    let lost = [remarks.eventsWereLost(), remarks.eventsWereLost()]
    #expect(lost[0] != nil && lost[1] == nil)
    let denied = [remarks.cannotWatch(NameBytes("/a"), EACCES), remarks.cannotWatch(NameBytes("/a"), EACCES)]
    #expect(denied[0]?.contains("\"/a\" cannot be watched") == true && denied[1] == nil)
    remarks.noteWatched(NameBytes("/a"))
    let again = remarks.cannotWatch(NameBytes("/a"), EACCES)
    #expect(again != nil, "it could be watched meanwhile")
  }

  @Test func fiveFoldersAreNamedAtMost() {
    var remarks = WatchRemarks()
    let named = (0..<9).compactMap { remarks.cannotWatch(NameBytes("/\($0)"), EACCES) }
    #expect(named.count == 5)
  }

  @Test func aLimitIsNamedAgainAfterItWasOver() {
    var remarks = WatchRemarks()
    let first = [remarks.limitIsReached(ENOSPC), remarks.limitIsReached(ENOSPC), remarks.limitIsReached(EMFILE)]
    #expect(first[0]?.contains("max_user_watches") == true && first[1] == nil)
    #expect(first[2]?.contains("max_user_instances") == true)
    remarks.everythingIsWatched()
    let later = remarks.limitIsReached(EMFILE)
    #expect(later != nil)
  }
}
