import HTTPTypes
import Testing
import TransferModel

@testable import TransferEngine

/// The coding gzip around the body of an answer.
@Suite struct UncodedSinkTests {
  private final class Collector: BodySink, @unchecked Sendable {
    var bytes: [UInt8] = []

    func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> { .success(status == 200) }

    func write(_ piece: UnsafeRawBufferPointer) -> Failure? {
      bytes += piece
      return nil
    }
  }

  /// "hello", and 70,000 times "a", which is more than one block; from gzip.
  private static let hello: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86,
    0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
  ]
  private static let long: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xED, 0xC1, 0x31, 0x01, 0x00, 0x00, 0x00, 0xC2,
    0xA0, 0xAC, 0xEB, 0x5F, 0xC2, 0x12, 0x9E, 0x40, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x6F, 0x03, 0x04, 0xE2, 0x29, 0x12, 0x70, 0x11, 0x01, 0x00,
  ]
  private static let text = Array("hello".utf8)

  /// What the sink behind it got of a body that came in pieces of `step` bytes.
  private func sent(
    _ body: [UInt8], coding: String? = "gzip", length: String? = nil, step: Int = 4
  ) -> (bytes: [UInt8], failure: Failure?, curlCode: Int32) {
    let collector = Collector()
    let sink = UncodedSink(collector)
    var fields = HTTPFields()
    (fields[.contentEncoding], fields[.contentLength]) = (coding, length)
    guard case .success(true) = sink.begin(status: 200, fields: fields) else { return ([], nil, -1) }
    var failure: Failure?
    for at in stride(from: 0, to: body.count, by: step) where failure == nil {
      failure = Array(body[at..<min(at + step, body.count)]).withUnsafeBytes { sink.write($0) }
    }
    var reply = TransferReply()
    reply.status = 200
    return (collector.bytes, failure, sink.judged(reply).curlCode)
  }

  @Test(arguments: [1, 7, 1_000]) func theFileArrives(_ step: Int) {
    let bodies: [([UInt8], [UInt8])] = [
      (Self.hello, Self.text), (Self.hello + Self.hello, Self.text + Self.text), (Self.hello + [0, 0, 0], Self.text),
      (Self.long, [UInt8](repeating: 0x61, count: 70_000)),
    ]
    for (body, file) in bodies {
      let sent = sent(body, coding: "X-GZip", step: step)
      #expect(sent.bytes == file && sent.failure == nil && sent.curlCode == 0, "\(body.count) bytes")
    }
  }

  /// Wherever it is cut off, and however the answer ends.
  @Test func aBodyThatWasCutOffIsNotTheFile() {
    for count in 1..<Self.hello.count {
      let sent = sent(Array(Self.hello.prefix(count)))
      #expect(sent.curlCode == 18 && sent.failure == nil, "\(count) bytes")
    }
    #expect(sent(Self.hello + Self.hello.prefix(9)).curlCode == 18)
  }

  /// Even an empty file has compressed data, unless the server says that there is none.
  @Test func noDataIsNoFile() {
    #expect(sent([]).curlCode == 18)
    #expect(sent([], length: "20").curlCode == 18)
    #expect(sent([], length: "0").curlCode == 0)
    #expect(sent([], coding: nil).curlCode == 0)
  }

  /// No limit of a run counts bytes that never become content.
  @Test func aBodyWithoutContentHasAnEnd() {
    let padding = [UInt8](repeating: 0, count: 1 << 20)
    #expect(sent(Self.hello + padding, step: 4_096).failure == nil)
    #expect(sent(Self.hello + padding + [0], step: 4_096).failure?.code == .protoBadReply)
    let empty: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let members = [UInt8]((0..<60_000).flatMap { _ in empty })
    #expect(sent(Self.hello + members.prefix(20 * 1_000), step: 4_096).failure == nil)
    #expect(sent(Self.hello + members, step: 4_096).failure?.code == .protoBadReply)
    // A name in the header that has no end, and empty blocks.
    let name: [UInt8] = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x61, count: 2 << 20)
    #expect(sent(name, step: 4_096).failure?.code == .protoBadReply)
    let blocks = Self.hello.prefix(10) + (0..<300_000).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }
    #expect(sent(Array(blocks), step: 4_096).failure?.code == .protoBadReply)
  }

  @Test func aBodyWithoutItsCodingFails() {
    var wrong = Self.hello
    wrong[Self.hello.count - 6] ^= 1
    for body in [wrong, Self.text, Self.hello + Self.text, [0, 0, 0, 0]] as [[UInt8]] {
      #expect(sent(body).failure?.code == .protoBadReply, "\(body.count) bytes")
    }
  }

  @Test(arguments: ["identity", "br", nil]) func otherBodiesStayAsTheyAre(_ coding: String?) {
    let sent = sent(Self.hello, coding: coding)
    #expect(sent.bytes == Self.hello && sent.failure == nil && sent.curlCode == 0)
  }
}
