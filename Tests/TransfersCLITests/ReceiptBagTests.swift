import Testing
import TransferModel

@testable import TransfersCLI

/// `store receipts --bagit`: names and checksums as in RFC 8493.
@Suite struct ReceiptBagTests {
  private func receipt(_ key: String, bytes: Int64? = 5, digest: String? = "sha256:00ff") -> StoredReceipt {
    let row = ReceiptRow(
      size: bytes, attempt: nil, confirmation: "digest", digest: digest, remoteDigest: nil, etag: "", versionID: "",
      requestID: "", serverDate: "", location: "", recordedMs: 0, note: nil)
    return StoredReceipt(
      file: FileID(rawValue: 1), path: NameBytes("/src"), key: NameBytes(key), receipt: row, number: 1, finding: nil)
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

  @Test func namesThatOnlyLookTheSameAreTwo() {
    var bag = ReceiptBag()
    bag.add(receipt("caf\u{e9}"))
    bag.add(receipt("cafe\u{301}"))
    #expect(bag.files == 2)
  }
}
