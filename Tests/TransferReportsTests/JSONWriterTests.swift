import FoundationEssentials
import Testing
import TransferModel

@testable import TransferReports

@Suite struct JSONWriterTests {
  private func text(_ object: FigureObject) -> String {
    String(decoding: JSONWriter.bytes(FigureTree(object)), as: UTF8.self)
  }

  private func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func everyKindOfCell() {
    let object = FigureObject([
      ("z", .none), ("text", .text("a/b \"q\"")), ("n", .integer(-5)), ("flag", .flag(true)), ("real", .real(0.5)),
      ("endless", .real(.infinity)), ("bytes", .bytes(.max)), ("wall_ms", .milliseconds(0)),
      ("at", .time(1_763_632_800_123)), ("bps", .bytesPerSecond(7)), ("labels", .texts(["b": "2", "a": "1\n"])),
      ("no_labels", .texts([:])), ("path", .name(NameBytes("/x"))), ("key", .name(NameBytes([0x61, 0xFF]))),
      ("list", .list(["x", "y"])), ("counts", .counts(["d": 1])),
    ])
    #expect(
      text(object)
        == #"{"at":"2025-11-20T10:00:00.123Z","bps":7,"bytes":9223372036854775807,"counts":{"d":1},"endless":null,"#
        + #""flag":true,"key":"a\#u{FFFD}","key_b64":"Yf8=","labels":{"a":"1\n","b":"2"},"list":["x","y"],"n":-5,"#
        + #""no_labels":{},"path":"/x","real":0.5,"text":"a/b \"q\"","wall_ms":0,"z":null}"#)
  }

  @Test func everyCharacterIsAsTheEncoderWritesIt() throws {
    for value in UInt32(0)..<0xA1 {
      let text = "a\(Character(Unicode.Scalar(value)!))b \\ é 日本 👩‍👧 \u{2028}"
      #expect(try self.text(FigureObject([("t", .text(text))])) == encoded(["t": text]), "\(value)")
    }
  }

  @Test func aTerminalGetsNothingThatDrivesIt() {
    let text = text(
      FigureObject([("t", .text("é\u{9B}2J\u{7F}\u{202E}日\u{200B}")), ("n", .counts(["b": 2, "a": 1]))]))
    let shown = String(decoding: JSONWriter.harmless(Array(text.utf8)), as: UTF8.self)
    #expect(shown == #"{"n":{"a":1,"b":2},"t":"é\u009b2J\u007f\u202e日\u200b"}"#)
  }
}
