import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct StructuredFieldTests {
  @Test(
    arguments: [
      ("?1", true), ("?0", false), (" ?1 ", true), ("?1;a=1", true), ("?2", nil), ("1", nil), ("true", nil), ("", nil),
      ("?1, ?0", nil), (nil, nil),
    ] as [(String?, Bool?)])
  func booleans(_ text: String?, _ value: Bool?) {
    #expect(StructuredField.boolean(text) == value)
  }

  @Test(
    arguments: [
      ("0", 0), ("42", 42), ("999999999999999", 999_999_999_999_999), ("1000000000000000", nil), ("-1", nil),
      ("1.5", nil),
      ("", nil), ("4 2", nil), ("42;x", 42), ("\t7 ", 7), ("0x10", nil), ("\u{664}", nil), (nil, nil),
    ] as [(String?, Int64?)])
  func integers(_ text: String?, _ value: Int64?) {
    #expect(StructuredField.integer(text) == value)
  }

  @Test func dictionaries() {
    #expect(StructuredField.dictionary("a=1, b=2;x=y , a=3") == ["a": 3, "b": 2])
    #expect(StructuredField.dictionary("a, b=?1, c=\"x\"") == ["a": nil, "b": nil, "c": nil])
    for wrong in ["", "A=1", "=1", "a=1,", "1=a"] { #expect(StructuredField.dictionary(wrong) == nil, "\(wrong)") }
  }

  @Test func limits() {
    let all = UploadLimit("max-size=5, min-size=1, max-append-size=4, min-append-size=2, max-age=9, new=\"x\"")
    #expect(all.map { [$0.maxSize, $0.minSize, $0.maxAppend, $0.minAppend, $0.maxAge] } == [5, 1, 4, 2, 9])
    #expect(all.map { UploadLimit($0.values) } == all)
    #expect(UploadLimit("max-size=\"5\"") == nil)
    #expect(UploadLimit("min-size=0")?.maxSize == nil)
    #expect(UploadLimit(nil as String?) == nil)
  }
}
