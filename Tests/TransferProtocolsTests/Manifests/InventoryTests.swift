import Testing
import TransferModel

@testable import TransferProtocols

/// The files of an S3 Inventory.
@Suite struct InventoryTests {
  private static let md5 = "5d41402abc4b2a76b9719d911017c592"

  private static func inventory(_ schema: String) throws -> S3Inventory {
    let text = #"{"sourceBucket": "b", "fileFormat": "CSV", "fileSchema": "\#(schema)", "files": []}"#
    #expect(S3Inventory.isOne(Array(text.utf8)))
    return try S3Inventory(Array(text.utf8), NameBytes("manifest.json"))
  }

  /// The same objects must be found in buffers of any size.
  private static func read(_ schema: String, _ csv: String) throws -> [InventoryObject] {
    let (inventory, text) = (try inventory(schema), Array(csv.utf8))
    var results: [[InventoryObject]] = []
    for step in [1, 7, 1 << 20] {
      var objects: [InventoryObject] = []
      let reader = InventoryReader(inventory, name: NameBytes("1.csv"))
      for start in stride(from: 0, to: text.count, by: step) {
        try Array(text[start..<min(start + step, text.count)]).withUnsafeBytes { bytes in
          try reader.read(bytes, isLast: false) { objects.append($0) }
        }
      }
      try reader.read(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { objects.append($0) }
      results.append(objects)
    }
    #expect(Set(results).count == 1)
    return results[0]
  }

  @Test func onlyTheNewestVersionsCount() throws {
    let objects = try Self.read(
      "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size",
      """
      "b","a","2","true","false","5"
      "b","a","1","false","false","4"
      "b","gone","2","true","true",""
      "b","gone","1","false","false","4"

      """)
    #expect(objects == [InventoryObject(key: NameBytes("a"), size: 5, line: 1)])
  }

  @Test func keysAreDecoded() throws {
    let csv = "\"b\",\"x/a+b%2Bc%25%0Ad%FF\"\n\"b\",\"folder/\"\n"
    let objects = try Self.read("Bucket, Key", csv)
    #expect(objects.map(\.key.bytes) == [Array("x/a b+c%\nd".utf8) + [0xFF], Array("folder/".utf8)])
    #expect(try objects[0].entry(of: NameBytes("1.csv"))?.path == objects[0].key)
    #expect(try objects[1].entry(of: NameBytes("1.csv")) == nil)
    #expect(throws: TransferError.self) { try Self.read("Bucket, Key", "\"b\",\"%4\"\n") }
    #expect(throws: TransferError.self) { try Self.read("Bucket, Key", "\"b\",\"a\n") }
    #expect(throws: TransferError.self) { try Self.read("Bucket, Key", "\"b\"\n") }
  }

  @Test(arguments: [
    ("false", "NOT-SSE", true), ("false", "SSE-S3", true), ("false", "SSE-KMS", false), ("false", "SSE-C", false),
    ("false", "DSSE-KMS", false), ("true", "SSE-S3", false),
  ])
  func anETagIsAnMD5OnlyOfWholeObjects(_ isMultipart: String, _ encryption: String, _ isMD5: Bool) throws {
    let csv = "\"k\",\"\(Self.md5)\",\"\(isMultipart)\",\"\(encryption)\"\n"
    let object = try #require(try Self.read("Key, ETag, IsMultipartUploaded, EncryptionStatus", csv).first)
    #expect((object.md5 != nil) == isMD5)
    // The number of parts shows it, too.
    #expect(try Self.read("Key, ETag", "\"k\",\"\(Self.md5)-2\"\n").first?.md5 == nil)
  }

  @Test(arguments: [
    "{}", "[1]", #"{"sourceBucket": "b", "fileSchema": "Size", "files": []}"#,
    #"{"sourceBucket": "b", "fileSchema": "Key", "files": [{"key": "a/.."}]}"#,
  ])
  func whatIsNoInventoryIsRefused(_ text: String) {
    #expect(throws: TransferError.self) { try S3Inventory(Array(text.utf8), NameBytes("manifest.json")) }
  }

  @Test func jsonLinesAreNoInventory() {
    #expect(!S3Inventory.isOne(Array(#"{"path":"\"sourceBucket\"\"fileSchema\""}"#.utf8)))
  }
}
