import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What a server claims to have is compared with what was sent.
@Suite struct SentBytesTests {
  private func head(
    _ offset: Int64, failures: Int = 0, _ change: (inout TransferFacts) -> Void = { _ in }
  ) throws -> Interpretation {
    let facts = TusScene.facts(size: 30, chunk: 10, change: change)
    let reply = Scene.reply(200, [("Upload-Offset", "\(offset)"), ("Upload-Length", "30")])
    return ProtocolInUse(try TusScene.tus()).interpret(
      reply, to: .probe(marker: nil), facts, TusScene.context(facts, failures: failures))
  }

  @Test func anOffsetIsBelievedAsFarAsBytesWereSent() throws {
    let first: (inout TransferFacts) -> Void = { $0.sent(0, through: 7) }
    #expect(text(try head(7, first)) == "offset 7")
    #expect(text(try head(8, first)) == "proto.offset sessionGone")
    #expect(failure(try head(8, first))?.message == "the server claims to have 8 bytes; at most 7 were sent")
    #expect(text(try head(8, failures: 2, first)) == "proto.offset permanent")
    #expect(text(try head(1)) == "proto.offset sessionGone")
    // Sent by a body that began where an earlier one had ended.
    #expect(
      text(
        try head(15) {
          $0.sent(0, through: 10); $0.sent(1, through: 15)
        }) == "offset 15")
    #expect(text(try head(10) { $0.acked = 10 }) == "offset 10")
    #expect(text(try head(30) { $0.isSentElsewhere = true }) == "offset 30", "the original may have sent it")
  }

  @Test func soIsTheUploadOfAChunk() throws {
    let tus = ProtocolInUse(try TusScene.tus())
    let chunk = TusScene.chunk(1, 10..<20, remote: ["url": "http://h/files/2"])
    func probe(_ offset: Int64, through end: Int64) -> String {
      let facts = TusScene.facts(size: 30, chunk: 10) { facts in
        TusScene.joined(&facts)
        facts.sent(1, through: end)
      }
      let reply = Scene.reply(200, [("Upload-Offset", "\(offset)"), ("Upload-Length", "10")])
      return text(tus.interpret(reply, to: .probeChunk(chunk), facts, TusScene.context(facts)))
    }
    #expect(probe(5, through: 15) != "proto.offset sessionGone")
    #expect(probe(6, through: 15) == "proto.offset sessionGone")
    #expect(probe(10, through: 20) != "proto.offset sessionGone")
    #expect(probe(10, through: 15) == "proto.offset sessionGone")
  }
}
