import Testing
import TransferModel

@testable import Receiver

@Suite struct QiniuTests {
  private static let block = 4 << 20

  private func json(_ reply: RawClient.Reply?) -> JSON? { JSON(reply?.body ?? []) }

  private func makeBlock(_ receiver: ReceiverFixture, _ bytes: [UInt8], _ fields: [String] = []) -> JSON? {
    json(receiver.ask("POST", "/-/qiniu/mkblk/\(bytes.count)", bytes, fields: fields))
  }

  @Test func blocksBecomeAFileInTheOrderOfTheirContexts() throws {
    let receiver = try ReceiverFixture(script: "match POST *mkfile* nth=4 : forget-session")
    let bytes = sample(Self.block + 1000)
    let last = makeBlock(receiver, Array(bytes[Self.block...]))
    let first = makeBlock(receiver, Array(bytes[..<Self.block]))
    let crc = RunningHash.of(Array(bytes[Self.block...]), .crc32).reduce(0) { $0 << 8 | Int64($1) }
    #expect(last?["crc32"]?.number == crc && last?["offset"]?.number == 1000)
    let contexts = [first, last].map { $0?["ctx"]?.text ?? "" }
    let key = base64URL(Array("in/ä?".utf8))
    let url = "/-/qiniu/mkfile/\(bytes.count)/key/\(key)/fname/\(base64URL([0x78]))"
    let made = receiver.ask("POST", url, Array(contexts.joined(separator: ",").utf8))
    #expect(made?.status == 200 && json(made)?["key"]?.text == "in/ä?")
    #expect(receiver.content("in/ä?") == bytes)
    #expect(try receiver.events().kinds.contains("joined -/qiniu/block/1 \(Self.block)+1000"))
    let swapped = Array(contexts.reversed().joined(separator: ",").utf8)
    #expect(receiver.ask("POST", url, swapped)?.status == 400)
    #expect(receiver.ask("POST", url + "?insert-only=1", Array(contexts.joined(separator: ",").utf8))?.status == 614)
    #expect(receiver.ask("POST", url, Array(contexts.joined(separator: ",").utf8))?.status == 701)
    #expect(receiver.ask("POST", "/-/qiniu/mkfile/5", Array("unknown".utf8))?.status == 400)
    #expect(receiver.ask("POST", "/-/qiniu/mkfile/5/key/\(key)", Array("unknown".utf8))?.status == 701)
    #expect(receiver.ask("POST", "/-/qiniu/mkblk/5", [1])?.status == 400)
  }

  @Test func partsOfVersion2() throws {
    let receiver = try ReceiverFixture { $0.bearerToken = "t" }
    let token = ["Authorization: UpToken t"]
    let uploads = "/-/qiniu/buckets/b/objects/\(base64URL(Array("k/v".utf8)))/uploads"
    #expect(receiver.ask("POST", uploads, [])?.status == 401)
    let id = json(receiver.ask("POST", uploads, [], fields: token))?["uploadId"]?.text ?? ""
    func put(_ number: Int, _ bytes: [UInt8], md5: [UInt8]? = nil) -> RawClient.Reply? {
      let md5 = hexText(md5 ?? RunningHash.of(bytes, .md5))
      return receiver.ask("PUT", "\(uploads)/\(id)/\(number)", bytes, fields: token + ["Content-MD5: \(md5)"])
    }
    #expect(put(1, [1], md5: [UInt8](repeating: 0, count: 16))?.status == 400)
    let pieces = [Array(sample(25)[..<10]), Array(sample(25)[10..<20]), Array(sample(25)[20...])]
    var parts: [JSON] = []
    for number in [3, 1, 2] {
      let answer = json(put(number, pieces[number - 1]))
      #expect(answer?["md5"]?.text == hexText(RunningHash.of(pieces[number - 1], .md5)))
      parts.append(["etag": answer?["etag"] ?? .null, "partNumber": .number(Int64(number))])
    }
    let listed = json(receiver.ask("GET", "\(uploads)/\(id)", fields: token))?["parts"]?.array
    #expect(listed?.compactMap { $0["partNumber"]?.number } == [1, 2, 3])
    #expect(
      receiver.ask("POST", "\(uploads)/\(id)", (["parts": .array(parts)] as JSON).bytes, fields: token)?.status == 400)
    let ordered: JSON = ["parts": .array([parts[1], parts[2], parts[0]]), "fname": "x"]
    #expect(receiver.ask("POST", "\(uploads)/\(id)", ordered.bytes, fields: token)?.status == 200)
    #expect(receiver.content("k/v") == sample(25))
    #expect(put(1, [1])?.status == 612)
    #expect(receiver.staged == [])
  }

  @Test func anAbortedUploadIsGone() throws {
    let receiver = try ReceiverFixture()
    let uploads = "/-/qiniu/buckets/b/objects/~/uploads"
    let id = json(receiver.ask("POST", uploads, []))?["uploadId"]?.text ?? ""
    #expect(receiver.ask("PUT", "\(uploads)/\(id)/1", [1])?.status == 200)
    #expect(receiver.ask("DELETE", "\(uploads)/\(id)")?.status == 200)
    #expect(receiver.ask("GET", "\(uploads)/\(id)")?.status == 612)
    #expect(receiver.staged == [])
  }
}
