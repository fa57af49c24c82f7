import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

@Suite struct JSONRowTests {
  private func row(_ object: FigureObject) -> String {
    var bytes: [UInt8] = []
    JSONRow.append(object, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func document(_ object: FigureObject) throws -> String {
    String(decoding: try JSONText.encode(object), as: UTF8.self)
  }

  @Test func everyKindOfCellIsAsTheEncoderWritesIt() throws {
    let object = FigureObject([
      ("z", .none), ("text", .text("a/b \"q\" \\ é 日本 👩‍👧 \u{2028}")), ("n", .integer(-5)), ("flag", .flag(true)),
      ("bytes", .bytes(.max)), ("wall_ms", .milliseconds(0)), ("at", .time(1_763_632_800_123)),
      ("bps", .bytesPerSecond(7)),
      ("labels", .texts(["b": "2", "a": "1\n"])), ("no_labels", .texts([:])), ("path", .name(NameBytes("/x"))),
      ("key", .name(NameBytes([0x61, 0xFF, 0xFE]))), ("off", .flag(false)),
    ])
    #expect(try row(object) == document(object))
  }

  @Test func aTerminalGetsNothingThatDrivesIt() throws {
    let text = try document(
      FigureObject([("t", .text("é\u{9B}2J\u{7F}\u{202E}日\u{200B}")), ("n", .counts(["b": 2, "a": 1]))]))
    let shown = String(decoding: JSONText.harmless(Array(text.utf8)), as: UTF8.self)
    #expect(shown == #"{"n":{"a":1,"b":2},"t":"é\u009b2J\u007f\u202e日\u200b"}"#)
    #expect(row(FigureObject([("n", .counts(["b": 2, "a": 1]))])) == #"{"n":{"a":1,"b":2}}"#)
  }

  @Test func everyControlCharacterIsAsTheEncoderWritesIt() throws {
    for value in UInt32(0)..<0xA1 {
      let object = FigureObject([("t", .text("a\(Character(Unicode.Scalar(value)!))b"))])
      #expect(try row(object) == document(object), "\(value)")
    }
  }
}
