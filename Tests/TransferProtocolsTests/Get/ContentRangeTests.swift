import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ContentRangeTests {
  @Test(arguments: [
    ("bytes 0-0/1", 0, 1, 1), ("bytes 5-9/10", 5, 5, 10), ("BYTES 5-9/10", 5, 5, 10),
  ])
  func aRangeSaysWhereItLiesAndInWhat(_ field: String, _ offset: Int64, _ length: Int64, _ size: Int64) {
    let read = ContentRange(field)
    #expect(read?.range == ByteRange(offset: offset, length: length))
    #expect(read?.size == size)
  }

  @Test func theWholeMayBeUnknownButNotBoth() {
    #expect(ContentRange("bytes 5-9/*")?.range == ByteRange(offset: 5, length: 5))
    #expect(ContentRange("bytes 5-9/*")?.size == nil)
    #expect(ContentRange("bytes */10")?.range == nil)
    #expect(ContentRange("bytes */10")?.size == 10)
    #expect(ContentRange("bytes */*") == nil)
  }

  @Test(arguments: [
    "", "bytes", "bytes ", "bytes 1", "bytes 9-5/10", "bytes 5-10/10", "bytes -5/10", "bytes 5-/10", "bytes 0-4",
    "items 0-4/10", "bytes 0-4/10/10", "bytes +1-4/10", "bytes 0 - 4/10", "bytes 0-9999999999999999999/*",
    "bytes 0-4/99999999999999999999", "bytes 0x1-4/10",
  ])
  func whatIsNoRangeIsNone(_ field: String) { #expect(ContentRange(field) == nil) }
}
