import Testing
import TransferModel

@testable import Receiver

@Suite struct ChunksTests {
  private static let total = 25

  /// Chunk `index` of ten bytes, as a raw body.
  private func send(_ receiver: ReceiverFixture, _ index: Int, base: Int = 1, id: String = "u1", _ query: String = "")
    -> RawClient.Reply?
  {
    let bytes = Array(sample(Self.total)[(index * 10)..<min(index * 10 + 10, Self.total)])
    let fields = [
      "X-Upload-Id: \(id)", "X-Chunk-Number: \(index + base)", "X-Chunk-Count: 3", "X-Total-Size: \(Self.total)",
    ]
    return receiver.ask("POST", "/-/chunks/upload?base=\(base)\(query)", bytes, fields: fields)
  }

  private func merge(_ receiver: ReceiverFixture, _ query: String = "", name: String = "in/a", count: Int64 = 3)
    -> RawClient.Reply?
  {
    let json: JSON = [
      "uploadId": "u1", "name": .text(name), "count": .number(count), "size": .number(Int64(Self.total)),
    ]
    return receiver.ask("POST", "/-/chunks/merge\(query)", json.bytes)
  }

  private func status(_ receiver: ReceiverFixture, _ id: String = "u1") -> JSON? {
    JSON(receiver.ask("GET", "/-/chunks/status?uploadId=\(id)&base=1")?.body ?? [])
  }

  @Test(arguments: [[0, 1, 2], [2, 0, 1], [1, 2, 0, 1]], [0, 1])
  func joinsChunksInAnyOrder(order: [Int], base: Int) throws {
    let receiver = try ReceiverFixture()
    for index in order { #expect(send(receiver, index, base: base)?.status == 200) }
    #expect(receiver.staged.count == 1)
    let merged = merge(receiver)
    let json = JSON(merged?.body ?? [])
    #expect(merged?.status == 200 && json?["key"]?.text == "in/a" && json?["size"]?.number == Int64(Self.total))
    #expect(json?["crc32c"]?.text == CRC32C.text(CRC32C.of(sample(Self.total))))
    #expect(receiver.content("in/a") == sample(Self.total))
    let events = try receiver.events()
    #expect(
      Set(events.filter { $0.path == NameBytes("-/chunks/u1") }.received.map(\.offset)).isSuperset(of: [0, 10, 20]))
    #expect(events.kinds.contains("joined -/chunks/u1 0+25"))
    #expect(receiver.staged == [])
  }

  @Test func tellsWhatItHas() throws {
    let receiver = try ReceiverFixture(script: "match GET */status nth=4 : wrong-offset=1")
    #expect(status(receiver)?["uploaded"] == .array([]))
    _ = send(receiver, 1)
    #expect(status(receiver)?["uploaded"]?.array == [["n": 2, "size": 10]])
    #expect(merge(receiver)?.status == 409)
    #expect(JSON(merge(receiver)?.body ?? [])?["missing"]?.array == [1, 3])
    _ = send(receiver, 0)
    #expect(status(receiver)?["uploaded"]?.array?.count == 2)
    #expect(status(receiver)?["uploaded"]?.array?.count == 1)
    for index in 1...2 { _ = send(receiver, index) }
    #expect(merge(receiver, count: 4)?.status == 409)
    #expect(merge(receiver, name: "a/../b")?.status == 400)
    #expect(merge(receiver)?.status == 200)
  }

  @Test func aSecondMergeIsAsTheQuerySays() throws {
    for (query, second) in [("", 409), ("?merge=idempotent", 200)] {
      let receiver = try ReceiverFixture()
      for index in 0..<3 { _ = send(receiver, index) }
      #expect(merge(receiver, query)?.status == 200)
      #expect(merge(receiver, query)?.status == second)
      #expect(send(receiver, 0)?.status == 409)
      #expect(try receiver.events().commits.count == 1)
    }
    let receiver = try ReceiverFixture()
    for index in 0..<3 { _ = send(receiver, index) }
    #expect(receiver.ask("GET", "/-/chunks/merge?uploadId=u1")?.status == 404)
    #expect(merge(receiver, "?merge=slow,3600")?.status == 202)
    #expect(receiver.ask("GET", "/-/chunks/merge?uploadId=u1")?.status == 202)
    let quick = try ReceiverFixture()
    for index in 0..<3 { _ = send(quick, index) }
    #expect(merge(quick, "?merge=slow,0")?.status == 200)
    #expect(quick.ask("GET", "/-/chunks/merge?uploadId=u1")?.status == 200)
  }

  @Test func keepsNothingOfABrokenChunkAndForgetsForGood() throws {
    let receiver = try ReceiverFixture(
      script: "match POST */upload nth=1 : cut-after=4\nmatch GET */status nth=2 : forget-session")
    #expect(send(receiver, 0) == nil)
    #expect(status(receiver)?["uploaded"] == .array([]))
    #expect(try receiver.events().received.first == ByteRange(offset: 0, length: 4))
    #expect(send(receiver, 0)?.status == 200)
    #expect(status(receiver)?["error"] != nil)
    #expect(status(receiver)?["error"] != nil)
    #expect(send(receiver, 0)?.status == 404)
    #expect(receiver.staged == [])
  }

  @Test func formsAreTakenAndNonsenseIsRefused() throws {
    let receiver = try ReceiverFixture()
    for index in [1, 0, 2] {
      let bytes = Array(sample(Self.total)[(index * 10)..<min(index * 10 + 10, Self.total)])
      let fields = [
        ("uploadId", "u1"), ("chunkNumber", "\(index + 1)"), ("chunkCount", "3"), ("totalSize", "\(Self.total)"),
      ]
      let body = FormTests.body(fields, file: bytes)
      #expect(receiver.ask("POST", "/-/chunks/upload", body, fields: [FormTests.type])?.status == 200)
    }
    #expect(try receiver.events().received.map(\.offset) == [10, 0, 20])
    #expect(merge(receiver)?.status == 200)
    #expect(receiver.content("in/a") == sample(Self.total))
    #expect(send(receiver, 3 - 3, base: 0, id: "")?.status == 400)
    let fields = ["X-Upload-Id: x", "X-Chunk-Number: 4", "X-Chunk-Count: 3", "X-Total-Size: 3"]
    #expect(receiver.ask("POST", "/-/chunks/upload", [1], fields: fields)?.status == 400)
    #expect(receiver.ask("POST", "/-/chunks/upload", [1, 2, 3, 4], fields: fields)?.status == 400)
  }

  /// Many connections at once send each chunk twice; one object results.
  @Test func chunksComeAtTheSameTime() throws {
    let receiver = try ReceiverFixture()
    let (size, count, port) = (40_000, 25, receiver.server.port)
    let bytes = sample(size * count - 7)
    let threads = (0..<2).flatMap { turn in
      (0..<count).map { index in
        WorkerThread {
          let fields = [
            "X-Upload-Id: u1", "X-Chunk-Number: \(index + 1)", "X-Chunk-Count: \(count)",
            "X-Total-Size: \(bytes.count)",
          ]
          let piece = Array(bytes[(index * size)..<min(bytes.count, (index + 1) * size)])
          let client = RawClient(port: port)
          client.send(ReceiverFixture.request("POST", "/-/chunks/upload", piece, fields: fields))
          #expect(client.reply()?.status == 200, "chunk \(index), turn \(turn)")
        }
      }
    }
    for thread in threads { thread.join() }
    let json: JSON = ["uploadId": "u1", "name": "a"]
    #expect(receiver.ask("POST", "/-/chunks/merge", json.bytes)?.status == 200)
    #expect(receiver.content("a") == bytes)
    #expect(try receiver.events().contains { $0.kind == .commit(size: Int64(bytes.count), crc32c: CRC32C.of(bytes)) })
  }

  /// Chunks whose size differs from that of the others are out of order in the staged file, and are copied.
  @Test func chunksOfOtherSizesAreJoinedToo() throws {
    let receiver = try ReceiverFixture()
    let pieces: [(Int, Range<Int>)] = [(2, 9..<25), (0, 0..<7), (1, 7..<9)]
    for (index, range) in pieces {
      let fields = ["X-Upload-Id: u1", "X-Chunk-Number: \(index + 1)", "X-Chunk-Count: 3", "X-Total-Size: 25"]
      #expect(receiver.ask("POST", "/-/chunks/upload", Array(sample(25)[range]), fields: fields)?.status == 200)
    }
    #expect(merge(receiver)?.status == 200)
    #expect(receiver.content("in/a") == sample(25))
    #expect(receiver.staged == [])
  }
}
