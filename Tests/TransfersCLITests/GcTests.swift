import Testing

@testable import TransfersCLI

@Suite struct GcTests {
  /// An empty list does not say that nothing is left on servers while unfinished files have sessions there.
  @Test func sessionsOfUnfinishedFilesAreNotDenied() {
    #expect(GcCommand.emptyText(lost: 0, used: 0) == "no sessions are left on servers")
    #expect(GcCommand.emptyText(lost: 2, used: 0) == "no sessions with a known URL or ID are left")
    #expect(GcCommand.emptyText(lost: 0, used: 1).contains("1 session belongs to a file that has not ended"))
    #expect(GcCommand.emptyText(lost: 0, used: 1).contains("\"transfers cancel\" ends a file and aborts its session"))
    #expect(GcCommand.emptyText(lost: 1, used: 3).contains("3 sessions belong to files that have not ended"))
  }
}
