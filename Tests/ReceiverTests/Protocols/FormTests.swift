import Testing
import TransferModel

@testable import Receiver

@Suite struct FormTests {
  static let type = "Content-Type: multipart/form-data; boundary=X-Y-Z"

  /// A form: fields, then the file.
  static func body(_ fields: [(String, String)], file: [UInt8]?, name: String = "a.bin") -> [UInt8] {
    var out: [UInt8] = []
    for field in fields {
      out += Array("--X-Y-Z\r\nContent-Disposition: form-data; name=\"\(field.0)\"\r\n\r\n\(field.1)\r\n".utf8)
    }
    if let file {
      out += Array("--X-Y-Z\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n\r\n".utf8) + file
      out += Array("\r\n".utf8)
    }
    return out + Array("--X-Y-Z--\r\n".utf8)
  }

  @Test func storesTheFileUnderItsNameOrItsKey() throws {
    let receiver = try ReceiverFixture()
    let made = receiver.ask("POST", "/-/form/", Self.body([], file: sample(100_000)), fields: [Self.type])
    #expect(made?.status == 201)
    let json = JSON(made?.body ?? [])
    #expect(json?["key"]?.text == "a.bin" && json?["size"]?.number == 100_000)
    #expect(json?["crc32c"]?.text == CRC32C.text(CRC32C.of(sample(100_000))))
    #expect(receiver.content("a.bin") == sample(100_000))
    let keyed = Self.body([("token", "t"), ("key", "in/b.bin")], file: [1, 2])
    #expect(receiver.ask("POST", "/-/form/", keyed, fields: [Self.type])?.status == 201)
    #expect(receiver.content("in/b.bin") == [1, 2])
    #expect(receiver.ask("POST", "/-/form/", keyed, fields: [Self.type])?.status == 201)
    #expect(try receiver.events().commits.map(\.path) == ["a.bin", "in/b.bin", "in/b.bin"])
    #expect(try receiver.events().received.map(\.length) == [100_000, 2, 2])
    #expect(receiver.staged == [])
  }

  @Test func keepsNothingOfABrokenForm() throws {
    let receiver = try ReceiverFixture(script: "match POST * nth=1 : cut-after=500")
    let body = Self.body([], file: sample(1000))
    #expect(receiver.ask("POST", "/-/form/", body, fields: [Self.type]) == nil)
    #expect(try receiver.events().received.map(\.length) == [Int64(500 - body.count + 1013)])
    for (broken, status) in [
      (Array(body.dropLast(40)), 400), (Self.body([("key", "a")], file: nil), 400),
      (Self.body([("key", "../a")], file: [1]), 400), (Self.body([("key", "-/a")], file: [1]), 403),
      (Self.body([], file: [1], name: ""), 400),
      (Self.body([("a", String(repeating: "x", count: 70_000))], file: [1]), 413),
    ] {
      #expect(receiver.ask("POST", "/-/form/", broken, fields: [Self.type])?.status == status)
    }
    #expect(receiver.ask("POST", "/-/form/", body, fields: ["Content-Type: text/plain"])?.status == 415)
    #expect(receiver.ask("GET", "/-/form/")?.status == 405)
    #expect(receiver.names() == [".transfers-receiver"] && receiver.staged == [])
  }
}
