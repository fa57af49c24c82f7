import Testing
import TransferModel

@testable import TransfersCLI

@Suite struct ExitCodeTests {
  @Test(arguments: [
    // succeeded, failed, mismatched, left
    (0, 0, 0, 0, ExitCode.ok), (5, 0, 0, 0, .ok), (5, 1, 0, 0, .partial), (0, 3, 0, 0, .allFailed),
    (0, 3, 0, 2, .partial), (5, 0, 0, 2, .workLeft), (5, 1, 0, 2, .partial), (5, 3, 1, 2, .mismatch),
    (0, 0, 1, 0, .mismatch),
  ])
  func precedence(_ succeeded: Int, _ failed: Int, _ mismatched: Int, _ left: Int, _ status: ExitCode) {
    #expect(ExitCode(succeeded: succeeded, failed: failed, mismatched: mismatched, left: left) == status)
  }

  @Test func everyKindOfErrorHasItsCode() {
    let codes = TransferError.Kind.known.map { "\($0.rawValue) \(ExitCode($0).rawValue)" }
    #expect(
      codes == [
        "bug 1", "locked 6", "store.missing 7", "store.corrupt 7", "store.newer 7", "store.read_only 7", "store.full 7",
        "store.busy 7", "store.unsuitable 7", "store.io 7", "store.lease_lost 6", "usage 64", "no_source 66",
        "bad_list 65",
        "auth 77", "config 78", "interrupted 5",
      ])
  }

  @Test func theErrorLineIsOneSafeLine() {
    let error = TransferError(
      .storeFull, "open store", NameBytes("/x/\n\u{1B}[2J.db"), cause: "disk is\nfull", remedy: "free space")
    #expect(
      CommandFailure(error).line
        == #"transfers: error[store.full]: open store "/x/\x0a\x1b[2J.db": disk is\x0afull. Try: free space"#)
  }
}
