import Testing
import TransferModel

@testable import TransfersCLI

/// `store receipts --bagit`: names and checksums as in RFC 8493.
@Suite struct ReceiptBagTests {
  private func receipt(
    _ key: String, bytes: Int64? = 5, digest: String? = "sha256:00ff", file: Int64 = 1, recordedMs: Int64 = 0
  ) -> StoredReceipt {
    let row = ReceiptRow(
      size: bytes, attempt: nil, confirmation: "digest", digest: digest, remoteDigest: nil, etag: "", versionID: "",
      requestID: "", serverDate: "", location: "", recordedMs: recordedMs, note: nil)
    return StoredReceipt(
      file: FileID(rawValue: file), path: NameBytes("/src"), key: NameBytes(key), receipt: row, number: 1, finding: nil)
  }

  @Test(arguments: [("a/b c", "data/a/b c"), ("50%\n\r\n", "data/50%25%0A%0D%0A"), ("日本", "data/日本")])
  func aNameIsEscaped(_ key: String, _ name: String) { #expect(ReceiptBag.name(NameBytes(key)) == name) }

  @Test(arguments: ["/etc/passwd", "a/../../b", "..", "./a", "a//b", "a/", "../\u{301}x"])
  func aNameThatLeadsElsewhereIsNone(_ key: String) { #expect(ReceiptBag.name(NameBytes(key)) == nil) }

  @Test func aNameThatIsNotUTF8IsNone() { #expect(ReceiptBag.name(NameBytes([0x61, 0xFF])) == nil) }

  @Test func whatWasSentLastStandsForItsKey() {
    var bag = ReceiptBag()
    bag.add(receipt("a", bytes: 5))
    bag.add(receipt("a", bytes: 7))
    bag.add(receipt("b", bytes: 9))
    bag.add(receipt("c", digest: "md5:00"))
    bag.add(receipt("d", bytes: nil))
    #expect(bag.files == 2 && bag.bytes == 16 && bag.leftOut == 2)
    bag.add(receipt("a", digest: nil))
    #expect(bag.files == 1 && bag.bytes == 9 && bag.leftOut == 3, "an older digest belongs to other content")
  }

  /// In a merged ledger the order of the files is that of the shards, not that of their times.
  @Test(arguments: [1, 3]) func whatAnotherShardReplacedIsNamed(_ secondMs: Int64) {
    let (first, second) = (Int64(1_000_000_000_001), Int64(2_000_000_000_001))
    var bag = ReceiptBag()
    bag.add(receipt("a", bytes: 5, file: first, recordedMs: 2))
    bag.add(receipt("a", bytes: 7, digest: "sha256:11ff", file: second, recordedMs: secondMs))
    #expect(bag.files == 1 && bag.bytes == (secondMs > 2 ? 7 : 5) && bag.leftOut == 0)
    #expect(bag.replaced.map(\.file.rawValue) == [secondMs > 2 ? first : second])
    #expect(bag.replaced.map(\.by.rawValue) == [secondMs > 2 ? second : first])
  }

  @Test func equalContentOfTwoShardsIsOneFile() {
    var bag = ReceiptBag()
    bag.add(receipt("a", file: 1_000_000_000_001))
    bag.add(receipt("a", file: 2_000_000_000_001))
    #expect(bag.files == 1 && bag.replaced.isEmpty && bag.leftOut == 0)
  }

  @Test func namesThatOnlyLookTheSameAreTwo() {
    var bag = ReceiptBag()
    bag.add(receipt("caf\u{e9}"))
    bag.add(receipt("cafe\u{301}"))
    #expect(bag.files == 2)
  }
}
