import Testing

@testable import StrictYAML

@Suite struct YAMLTests {
  private func read(_ text: String) throws -> YAMLNode { try YAMLReader.read(Array(text.utf8)) }

  private func fault(_ text: String) -> YAMLFault? {
    do {
      _ = try read(text)
      return nil
    } catch {
      return error as? YAMLFault
    }
  }

  @Test func scalarsAreThoseOfJSON() throws {
    let list = try read("[true, no, off, 0x10, 010, -3, 1.5, 99999999999999999999, ~, '5', \"true\", a b]").list
    #expect(
      try #require(list).map(\.scalar) == [
        .bool(true), .text("no"), .text("off"), .text("0x10"), .text("010"), .int(-3), .number("1.5"),
        .number("99999999999999999999"), .null, .text("5"), .text("true"), .text("a b"),
      ])
  }

  @Test func everyNodeKnowsItsPlace() throws {
    let root = try read("a: 1\nlist:\n  - x\n  - {é: ü, k: v}\n")
    let list = try #require(root.entries?[1])
    #expect(list.keyMark == SourceMark(line: 2, column: 1))
    let map = try #require(list.value.list?[1])
    #expect(map.mark == SourceMark(line: 4, column: 5))
    #expect(map.entries?[1].keyMark == SourceMark(line: 4, column: 12))
  }

  @Test func anAliasIsACopyOfItsAnchor() throws {
    let root = try read("a: &q {x: 1}\nb: [*q, *q]\n")
    let entries = try #require(root.entries)
    #expect(entries[1].value.list == [entries[0].value, entries[0].value])
  }

  @Test func aSmallTextCannotBecomeALargeTree() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in 1...8 {
      let aliases = [String](repeating: "*a\(i - 1)", count: 10).joined(separator: ", ")
      text += "a\(i): &a\(i) [\(aliases)]\n"
    }
    let fault = self.fault(text)
    #expect(fault?.message.contains("20000 values") == true)
    #expect(fault?.mark.line == 5)
  }

  @Test func depthSizeAndAliasesAreBounded() {
    let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    #expect(fault(deep)?.message.contains("deeper than 32") == true)
    #expect(fault(String(repeating: "[", count: 900_000))?.message.contains("deeper than 32") == true)
    #expect(fault(String(repeating: " ", count: (1 << 20) + 1))?.message.contains("1048577 bytes") == true)
    let many = "a: &a x\nb: [" + [String](repeating: "*a", count: 257).joined(separator: ", ") + "]"
    #expect(fault(many)?.message.contains("more than 256 aliases") == true)
    let long = String(repeating: "x", count: 100_000)
    for anchor in [long, "{\(String(repeating: "k", count: 1_000)): \(long)}"] {
      let large = "a: &a \(anchor)\nb: [" + [String](repeating: "*a", count: 20).joined(separator: ", ") + "]"
      #expect(fault(large)?.message.contains("more than 20000 values") == true)
    }
    #expect(fault("a: &a \(long)\nb: [*a, *a]") == nil)
  }

  @Test(arguments: [
    ("a: 1\nb: 2\na: 3\n", 3, 1, "\"a\" is duplicated"),
    ("{a: 1, \"a\": 2}", 1, 8, "\"a\" is duplicated"),
    ("a: &x 1\nb: &x 2\nc: *x\n", 2, 4, "the anchor \"&x\" is duplicated"),
    ("a: *nothing", 1, 4, "no anchor"),
    ("a: &a [*a]", 1, 8, "no anchor"),
    ("a: !!int 5", 1, 4, "tags"),
    ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
    ("", 1, 1, "empty"),
    ("[a]: 1", 1, 1, "key"),
    ("a: b: c", 1, 5, "not valid YAML"),
    ("a: [1, 2\n", 2, 1, "not valid YAML"),
    ("\ta: 1", 1, 1, "not valid YAML"),
  ])
  func whatIsWrongIsNamedWithItsPlace(_ text: String, _ line: Int, _ column: Int, _ message: String) throws {
    let fault = try #require(self.fault(text))
    #expect(fault.message.contains(message))
    #expect(fault.mark.line == line)
    #expect(fault.mark.column == column || fault.message.contains("not valid YAML"))
  }

  @Test func bytesThatAreNoTextAreRefused() {
    #expect(throws: YAMLFault.self) { try YAMLReader.read([0x61, 0x3A, 0x20, 0xFF]) }
    #expect(throws: YAMLFault.self) { try YAMLReader.read([0x61, 0x3A, 0x20, 0x00]) }
  }

  @Test func jsonIsRead() throws {
    let root = try read("{\"a\":[1,true,null,\"x\\u00e9\\n\"],\"b\":{}}")
    #expect(root.entries?[0].value.list?.map(\.scalar) == [.int(1), .bool(true), .null, .text("xé\n")])
  }
}
