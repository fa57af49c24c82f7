import Testing
import TransferModel

@testable import Receiver

/// Resumable.js, Flow.js and Dropzone.
@Suite struct BrowserChunksTests {
  private static let total = 27

  /// The parameters of chunk `number` (from 1): the last one includes the remainder, as these libraries cut files.
  private func parameters(_ prefix: String, _ number: Int, name: String = "in/a.bin") -> [(String, String)] {
    let size = number == 2 ? 17 : 10
    return [
      ("ChunkNumber", "\(number)"), ("TotalChunks", "2"), ("ChunkSize", "10"), ("CurrentChunkSize", "\(size)"),
      ("TotalSize", "\(Self.total)"), ("Identifier", "27-inabin"), ("Filename", "a.bin"), ("RelativePath", name),
    ].map { (prefix + $0, $1) }
  }

  private func bytes(_ number: Int) -> [UInt8] { Array(sample(Self.total)[(number == 1 ? 0..<10 : 10..<27)]) }

  private func query(_ parameters: [(String, String)]) -> String {
    parameters.map { "\($0)=\($1)" }.joined(separator: "&")
  }

  @Test(arguments: [("resumablejs", "resumable"), ("flow", "flow")], [[1, 2], [2, 1]])
  func theLastChunkCompletesTheObject(library: (name: String, prefix: String), order: [Int]) throws {
    let receiver = try ReceiverFixture()
    let url = "/-/\(library.name)"
    for number in order {
      let test = "\(url)?\(query(parameters(library.prefix, number)))"
      #expect(receiver.ask("GET", test)?.status == 204)
      #expect(receiver.content("in/a.bin") == nil)
      let body = FormTests.body(parameters(library.prefix, number), file: bytes(number), name: "blob")
      #expect(receiver.ask("POST", url, body, fields: [FormTests.type])?.status == 200)
      #expect(receiver.ask("GET", test)?.status == 200)
    }
    #expect(receiver.content("in/a.bin") == sample(Self.total))
    let events = try receiver.events()
    #expect(
      events.filter { $0.path == NameBytes("in/a.bin") }.received.map(\.offset)
        == (order == [1, 2] ? [0, 10] : [10, 0]))
    #expect(events.commits.count == 1)
    #expect(receiver.staged == [])
  }

  @Test func rawBodiesAndASecondUploadUnderTheSameIdentifier() throws {
    let receiver = try ReceiverFixture(script: "match POST * nth=1 : cut-after=5")
    func send(_ number: Int, _ bytes: [UInt8]) -> Int? {
      receiver.ask("POST", "/-/flow?\(query(parameters("flow", number)))", bytes)?.status
    }
    #expect(send(1, bytes(1)) == nil)
    #expect(receiver.ask("GET", "/-/flow?\(query(parameters("flow", 1)))")?.status == 204)
    #expect(send(1, bytes(1)) == 200)
    #expect(send(2, bytes(2)) == 200)
    #expect(receiver.content("in/a.bin") == sample(Self.total))
    let other = [UInt8](repeating: 9, count: 27)
    #expect(send(2, Array(other[10...])) == 200)
    #expect(receiver.content("in/a.bin") == sample(Self.total))
    #expect(send(1, Array(other[..<10])) == 200)
    #expect(receiver.content("in/a.bin") == other)
    #expect(receiver.ask("GET", "/-/flow?flowChunkNumber=1")?.status == 400)
  }

  @Test func dropzoneSendsOffsetsAndAnApplicationMerges() throws {
    let receiver = try ReceiverFixture()
    func send(_ index: Int) -> Int? {
      let fields = [
        ("dzuuid", "u"), ("dzchunkindex", "\(index)"), ("dztotalfilesize", "27"), ("dzchunksize", "10"),
        ("dztotalchunkcount", "3"), ("dzchunkbyteoffset", "\(index * 10)"),
      ]
      let body = FormTests.body(fields, file: Array(sample(27)[(index * 10)..<min(27, index * 10 + 10)]))
      return receiver.ask("POST", "/-/dropzone/upload", body, fields: [FormTests.type])?.status
    }
    let merge = (["id": "u", "name": "in/d"] as JSON).bytes
    #expect(receiver.ask("POST", "/-/dropzone/merge", merge)?.status == 404)
    #expect(send(2) == 200 && send(0) == 200)
    let early = receiver.ask("POST", "/-/dropzone/merge", merge)
    #expect(early?.status == 409 && JSON(early?.body ?? [])?["missing"]?.array == [1])
    #expect(send(1) == 200)
    #expect(JSON(receiver.ask("POST", "/-/dropzone/merge", merge)?.body ?? [])?["size"]?.number == 27)
    #expect(receiver.ask("POST", "/-/dropzone/merge", merge)?.status == 409)
    #expect(receiver.content("in/d") == sample(27))
    #expect(receiver.ask("POST", "/-/dropzone/upload", [1])?.status == 415)
  }
}
