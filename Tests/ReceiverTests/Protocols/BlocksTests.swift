import Testing
import TransferModel

@testable import Receiver

@Suite struct BlocksTests {
  private static let total = 25

  private struct Client {
    let receiver: ReceiverFixture
    var fields: [String] = []

    func call(_ method: String, _ path: String, _ body: [UInt8]? = nil, fields: [String] = []) -> JSON? {
      JSON(receiver.ask(method, "/-/blocks/\(path)", body, fields: self.fields + fields)?.body ?? [])
    }

    func open(_ query: String = "") -> String {
      let json: JSON = ["fileName": "a.mp4", "totFileSize": .number(Int64(total)), "suffix": "mp4"]
      return call("POST", "init\(query)", json.bytes)?["data"]?["upToken"]?.text ?? ""
    }

    /// Block `number` of ten bytes.
    func block(_ number: Int, _ token: String, crc: UInt32? = nil) -> JSON? {
      let bytes = Array(sample(total)[((number - 1) * 10)..<min(number * 10, total)])
      let shown = crc ?? RunningHash.of(bytes, .crc32).reduce(0) { $0 << 8 | UInt32($1) }
      let query = "upToken=\(token)&sequenceNo=\(number)&blockSize=\(bytes.count)&totFileSize=\(total)&suffix=mp4"
      return call("POST", "block?\(query)&crc=\(CRC32C.text(shown))", bytes)
    }

    func save(_ url: String, _ name: String) -> JSON? {
      call("POST", "save", (["fileUrl": .text(url), "name": .text(name), "size": .number(Int64(total))] as JSON).bytes)
    }
  }

  private static func code(_ json: JSON?) -> Int64? { json?["code"]?.number }

  @Test func takesBlocksInOrderAndAppearsWithTheSaveCall() throws {
    let receiver = try ReceiverFixture()
    let client = Client(receiver: receiver)
    let token = client.open()
    #expect(client.block(1, token)?["data"]?["next"]?.number == 2)
    #expect(Self.code(client.block(3, token)) == 40033)
    let again = client.block(1, token)
    #expect(Self.code(again) == 40031 && again?["data"]?["next"]?.number == 2)
    #expect(Self.code(client.block(2, token, crc: 5)) == 40032)
    #expect(client.call("GET", "query?upToken=\(token)")?["data"]?["next"]?.number == 2)
    #expect(client.block(2, token)?["data"]?["fileUrl"] == nil)
    let url = client.block(3, token)?["data"]?["fileUrl"]?.text ?? ""
    #expect(url.hasPrefix("http://test/"))
    #expect(client.block(3, token)?["data"]?["fileUrl"]?.text == url)
    #expect(receiver.names() == [".transfers-receiver"])
    let saved = client.save(url, "in/a.mp4")
    #expect(Self.code(saved) == 0 && saved?["data"]?["size"]?.number == Int64(Self.total))
    #expect(receiver.content("in/a.mp4") == sample(Self.total))
    #expect(client.save(url, "in/a.mp4") == saved)
    #expect(Self.code(client.save(url, "other")) == 40034)
    #expect(try receiver.events().commits.map(\.path) == ["in/a.mp4"])
    #expect(Self.code(client.block(1, "unknown")) == 40101)
  }

  @Test func tokensRotateAndDuplicatesCanBeRefused() throws {
    let receiver = try ReceiverFixture(script: "match POST */block nth=4 : token=a\\r\\nX:y")
    let client = Client(receiver: receiver)
    let first = client.open("?rotate=1&refuse-duplicates=1")
    let second = client.block(1, first)?["data"]?["upToken"]?.text ?? ""
    #expect(second != first)
    #expect(Self.code(client.block(2, first)) == 40101)
    #expect(Self.code(client.block(1, second)) == 40034)
    #expect(client.block(2, second)?["data"]?["upToken"]?.text == "a\r\nX:y")
  }

  @Test func expiresAndRefusesNonsense() throws {
    let receiver = try ReceiverFixture { $0.bearerToken = "secret" }
    #expect(receiver.ask("POST", "/-/blocks/init", [])?.status == 401)
    let client = Client(receiver: receiver, fields: ["X-Token: secret"])
    #expect(Self.code(client.block(1, client.open("?max-age=0"))) == 40101)
    #expect(Self.code(client.call("POST", "init", Array("<html>".utf8))) == 40001)
    let token = client.open()
    #expect(
      Self.code(client.call("POST", "block?upToken=\(token)&sequenceNo=0&blockSize=1&totFileSize=25", [1])) == 40001)
    #expect(
      Self.code(client.call("POST", "block?upToken=\(token)&sequenceNo=1&blockSize=2&totFileSize=25", [1])) == 40032)
    #expect(Self.code(client.save("http://x/\(token)", "a")) == 40035)
  }

  @Test func aCutBlockIsNotThereAndAForgottenUploadNeither() throws {
    let receiver = try ReceiverFixture(
      script: "match POST */block nth=1 : cut-after=5\nmatch GET */query nth=2 : wrong-offset=1\n"
        + "match GET */query nth=3 : forget-session")
    let client = Client(receiver: receiver)
    let token = client.open()
    #expect(client.block(1, token) == nil)
    #expect(client.call("GET", "query?upToken=\(token)")?["data"]?["next"]?.number == 1)
    _ = client.block(1, token)
    _ = client.block(2, token)
    #expect(client.call("GET", "query?upToken=\(token)")?["data"]?["next"]?.number == 2)
    #expect(Self.code(client.call("GET", "query?upToken=\(token)")) == 40101)
  }

  @Test func anEmptyFileIsOneEmptyBlockAndFormsAreTakenToo() throws {
    let receiver = try ReceiverFixture()
    let client = Client(receiver: receiver)
    let json: JSON = ["fileName": "a", "totFileSize": 0, "suffix": ""]
    let token = client.call("POST", "init", json.bytes)?["data"]?["upToken"]?.text ?? ""
    let query = "block?upToken=\(token)&sequenceNo=1&blockSize=0&totFileSize=0&crc=00000000"
    let last = client.call("POST", query, FormTests.body([], file: []), fields: [FormTests.type])
    let saved: JSON = ["fileUrl": .text(last?["data"]?["fileUrl"]?.text ?? ""), "name": "empty"]
    #expect(Self.code(client.call("POST", "save", saved.bytes)) == 0)
    #expect(receiver.content("empty") == [])
  }
}
