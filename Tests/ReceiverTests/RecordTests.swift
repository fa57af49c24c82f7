import Glibc
import Testing
import TransferModel
import TransferTestSupport

@testable import Receiver

@Suite struct RecordTests {
  private static let kinds: [ReceiverEvent.Kind] = [
    .open(pid: 5, seed: .max), .start(method: "PUT", declared: nil), .start(method: "GET", declared: 7),
    .fault(line: 3, effect: "retry-after=\"a\\b\u{1}\" ü"), .bytes(ByteRange(offset: 4, length: 9), crc32c: 0xA),
    .bytes(ByteRange(offset: 0, length: 0), crc32c: nil), .commit(size: .max, crc32c: .max),
    .commit(size: 0, crc32c: nil), .delete, .makeCollection, .answer(status: 201), .lost(status: 0, cause: "x"),
    .session("tus", id: "a1", .opened), .session("blocks", id: "\"", .forgotten),
    .joined(from: NameBytes([0xFE, 0x2F]), ByteRange(offset: 7, length: 1)),
  ]

  @Test(arguments: kinds) func everyEventIsReadAsItWasWritten(kind: ReceiverEvent.Kind) {
    var path = NameBytes([0xFF, 0x0A, 0x22])
    if case .open = kind { path = NameBytes("") }
    let event = ReceiverEvent(atMs: 17, connection: 2, request: 3, path: path, kind: kind)
    #expect(event.line.last == 0x0A && event.line.count { $0 == 0x0A } == 1)
    #expect(ReceiverEvent(line: event.line.dropLast()[...]) == event)
  }

  @Test(arguments: [
    "", "{}", "[]", "{\"t\":\"answer\"}", "{\"t\":\"what\",\"at_ms\":1,\"conn\":1,\"req\":1,\"path_b64\":\"\"}",
    "{\"t\":\"delete\",\"at_ms\":1,\"conn\":1,\"req\":1,\"path_b64\":\"!\"}",
    "{\"t\":\"delete\",\"at_ms\":1,\"conn\":1,\"req\":1,\"req\":2,\"path_b64\":\"\"}", "{\"t\":\"a\\",
  ])
  func otherLinesAreRefused(line: String) { #expect(ReceiverEvent(line: Array(line.utf8)[...]) == nil) }

  @Test func aTornLastLineIsNoEventAndATornOtherLineIsAnError() throws {
    var template = Array("\(temporaryRoot)/receiver-record-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      close(file)
      unlink(path)
    }
    let event = ReceiverEvent(atMs: 1, connection: 1, request: 1, path: NameBytes("a"), kind: .delete)
    let line = event.line
    _ = line.withUnsafeBytes { write(file, $0.baseAddress!, $0.count) }
    _ = line.withUnsafeBytes { write(file, $0.baseAddress!, 10) }
    #expect(try ReceiverRecord.read(path: path) == [event])
    _ = line.withUnsafeBytes { write(file, $0.baseAddress!, $0.count) }
    #expect { try ReceiverRecord.read(path: path) } throws: {
      ($0 as? TransferError)?.cause.contains("line 2") == true
    }
  }

  @Test func rangesOfAnObjectHoldThoseOfItsParts() {
    func event(_ path: String, _ kind: ReceiverEvent.Kind) -> ReceiverEvent {
      ReceiverEvent(atMs: 1, connection: 1, request: 1, path: NameBytes(path), kind: kind)
    }
    let (ten, five) = (ByteRange(offset: 0, length: 10), ByteRange(offset: 10, length: 5))
    let events = [
      event("part", .bytes(ten, crc32c: nil)), event("other", .bytes(ten, crc32c: nil)),
      event("part", .bytes(five, crc32c: nil)), event("a", .bytes(five, crc32c: nil)),
      event("a", .joined(from: NameBytes("part"), ByteRange(offset: 15, length: 15))),
    ]
    #expect(
      events.receivedRanges(of: NameBytes("a")) == [
        ByteRange(offset: 15, length: 10), ByteRange(offset: 25, length: 5), five,
      ])
  }

  @Test func theRecordIsThereBeforeTheAnswer() throws {
    let receiver = try ReceiverFixture()
    for i in 0..<20 {
      receiver.ask("PUT", "/a\(i)", [1])
      #expect(try receiver.events().last?.kind == .answer(status: 201))
    }
    let requests = try receiver.events().map(\.request)
    #expect(Set(requests) == Set(0...20))
  }

  /// The disk of the record is full: no success may be reported that the record does not contain.
  @Test func aRecordThatCannotBeWrittenEndsSuccess() throws {
    #expect(throws: TransferError.self) { try ReceiverFixture { $0.recordPath = "/dev/full" } }
    let record = try ReceiverRecord(path: "/dev/full")
    #expect(throws: ExchangeEnd.self) {
      try record.add(ReceiverEvent(atMs: 0, connection: 0, request: 0, path: NameBytes(""), kind: .delete))
    }
  }

  @Test func linesOfManyConnectionsDoNotMix() throws {
    let receiver = try ReceiverFixture()
    let threads = (0..<8).map { thread in
      WorkerThread { [port = receiver.server.port] in
        let client = RawClient(port: port)
        for i in 0..<25 {
          client.send(ReceiverFixture.request("PUT", "/t\(thread)/\(i)", sample(i * 100)))
          precondition(client.reply()?.status == 201)
        }
      }
    }
    for thread in threads { thread.join() }
    let events = try receiver.events()
    #expect(events.commits.count == 200)
    #expect(events.count == 1 + 4 * 200)
    for commit in events.commits { #expect(receiver.content(commit.path)?.count == Int(commit.size)) }
  }
}
