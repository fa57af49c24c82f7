import Testing
import TransferModel

@testable import TransferReports

@Suite struct SeparatedRowTests {
  private let headings = [
    FigureHeading("path", nil, .name), FigureHeading("n", nil, .integer),
  ]

  private func line(_ form: SeparatedRow.Form, _ name: [UInt8], _ cell: Cell) -> String {
    var bytes: [UInt8] = []
    SeparatedRow(form: form).append([.name(NameBytes(name)), cell], headings, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func theHeaderHasAColumnForExactBytes() {
    var bytes: [UInt8] = []
    SeparatedRow(form: .csv).append(headings, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "path,path_b64,n\r\n")
  }

  @Test(arguments: [
    ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("two\nlines", "\"two\nlines\""),
    ("cr\rlf", "\"cr\rlf\""), (" lead", "\" lead\""), ("trail ", "\"trail \""), ("", ""), ("日本", "日本"),
    ("=1+1", "=1+1"), ("-x", "-x"), ("@a", "@a"), ("tab\tx", "\"tab\tx\""), ("back\\slash", "back\\slash"),
  ])
  func csv(_ name: String, _ field: String) {
    #expect(line(.csv, Array(name.utf8), .integer(-5)) == "\(field),,-5\r\n")
  }

  @Test(arguments: [
    ("plain", "plain"), ("a\tb", "a\\tb"), ("a\nb", "a\\nb"), ("a\rb", "a\\rb"), ("a\\tb", "a\\\\tb"),
    ("say \"x\", y", "say \"x\", y"), ("=1", "=1"), ("\u{1B}[2J\u{7F}", "\\x1b[2J\\x7f"),
  ])
  func tsv(_ name: String, _ field: String) {
    #expect(line(.tsv, Array(name.utf8), .none) == "\(field)\t\t\n")
  }

  @Test func aTerminalGetsNoControlCharacters() {
    var bytes: [UInt8] = []
    SeparatedRow(form: .csv, isForTerminal: true).append(["a\u{1B}[2J\nb,", "é日"], to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\"a\u{FFFD}[2J\u{FFFD}b,\",é日\r\n")
  }

  /// U+009B is a CSI; U+061C and U+202E reorder text.
  @Test(arguments: ["\u{9B}", "\u{61C}", "\u{202E}"]) func nothingOnATerminalReordersText(_ hostile: String) {
    for (form, isForTerminal, expected) in [
      (SeparatedRow.Form.tsv, true, "a\\té\u{FFFD}\\x1b\n"), (.tsv, false, "a\\té\(hostile)\\x1b\n"),
      (.csv, true, "a\u{FFFD}é\u{FFFD}\u{FFFD}\r\n"),
    ] {
      var bytes: [UInt8] = []
      SeparatedRow(form: form, isForTerminal: isForTerminal).append(["a\té\(hostile)\u{1B}"], to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
    #expect(SeparatedRow.harmlessLines(Array("a\u{1B}\(hostile)é\n".utf8)) == Array("a\u{FFFD}\u{FFFD}é\n".utf8))
    #expect(NameBytes(hostile).description.hasPrefix("\\x"))
  }

  @Test func aNameThatIsNotTextKeepsItsBytes() {
    #expect(line(.csv, [0x62, 0xFF], .flag(true)) == "b\u{FFFD},Yv8=,true\r\n")
    #expect(line(.tsv, [0x62, 0xFF], .flag(false)) == "b\u{FFFD}\tYv8=\tfalse\n")
  }

  @Test(arguments: [
    (Cell.time(1_763_632_800_123), "2025-11-20T10:00:00.123Z"), (.milliseconds(94_012), "94012"),
    (.bytes(.max), "9223372036854775807"), (.bytesPerSecond(7), "7"),
    (.texts(["b": "2", "a": "x"]), "{\"a\":\"x\",\"b\":\"2\"}"), (.text("t"), "t"),
  ])
  func figuresArePlain(_ cell: Cell, _ field: String) { #expect(line(.tsv, [0x78], cell) == "x\t\t\(field)\n") }
}
