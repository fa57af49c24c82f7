import Testing
import TransferModel

@testable import TransfersCLI

/// `store receipts --sha256sum`, in the form of GNU coreutils.
@Suite struct SumLineTests {
  private func line(_ digest: String?, _ path: [UInt8]) -> [UInt8]? {
    let row = ReceiptRow(
      size: 1, attempt: nil, confirmation: "digest", digest: digest, remoteDigest: nil, etag: "", versionID: "",
      requestID: "", serverDate: "", location: "", recordedMs: 0, note: nil)
    return SumLine.of(
      StoredReceipt(
        file: FileID(rawValue: 1), path: NameBytes(path), key: NameBytes("k"), receipt: row, number: 1, finding: nil))
  }

  @Test(arguments: [
    ("/a b", "00ff  /a b\n"), ("/a\\b", #"\00ff  /a\\b"# + "\n"), ("/a\nb\r", #"\00ff  /a\nb\r"# + "\n"),
  ])
  func aLineIsThatOfCoreutils(_ path: String, _ expected: String) throws {
    #expect(line("sha256:00ff", Array(path.utf8)) == Array(expected.utf8))
  }

  @Test func aNameIsWrittenAsItIs() {
    #expect(line("sha256:00ff", [0x2F, 0xFF]) == Array("00ff  /".utf8) + [0xFF, 0x0A])
  }

  @Test(arguments: [nil, "crc32c:00000000"])
  func otherDigestsHaveNoLine(_ digest: String?) { #expect(line(digest, [0x61]) == nil) }
}
