import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

@Suite struct ListedSessionsTests {
  private func listed(_ ids: [String], next: String? = nil) -> ListedSessions? {
    ListedSessions(7, .unlistedUploads(ids, next: next), TransferReply())
  }

  /// What is left of a list, and where the next page begins.
  private func remainder(_ meaning: Interpretation) -> (ids: [String], next: String?)? {
    guard case .unlistedUploads(let ids, let next) = meaning.outcome else { return nil }
    return (ids, next)
  }

  @Test func onlyAListWithSessionsIsAskedAbout() {
    #expect(listed([]) == nil)
    #expect(ListedSessions(7, .settled, TransferReply()) == nil)
    #expect(listed(["a"])?.request == 7)
  }

  @Test func sessionsThatTheLedgerKnowsAreTakenOff() throws {
    let meaning = try #require(listed(["a", "b", "c"], next: "m")).meaning(without: .success(["b"]))
    let rest = try #require(remainder(meaning))
    #expect(rest.ids == ["a", "c"] && rest.next == "m")
  }

  /// The session of another file must not be ended because the ledger was busy.
  @Test func allAreTakenOffWhereTheLedgerCouldNotBeAsked() throws {
    let error = TransferError(.storeBusy, "read", cause: "test")
    let meaning = try #require(listed(["a", "b"])).meaning(without: .failure(error))
    let rest = try #require(remainder(meaning))
    #expect(rest.ids == [])
  }
}
