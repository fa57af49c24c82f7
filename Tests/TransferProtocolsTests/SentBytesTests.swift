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

  // MARK: - Queries about the whole file

  /// The answer of S3 to HEAD after the answer to a PUT with `If-None-Match` was lost.
  private func object(_ change: (inout TransferFacts) -> Void) throws -> String {
    let facts = Scene.facts(size: 5) { facts in
      facts.lostAnswer = .part
      change(&facts)
    }
    let reply = Scene.reply(200, [("x-amz-meta-transfers-uid", Scene.uid.description), ("Content-Length", "5")])
    let s3 = ProtocolInUse(try Scene.s3 { $0.ifNoneMatch = true })
    return text(s3.interpret(reply, to: .verify, facts, Scene.context()))
  }

  @Test func aSizeProvesOnlyWhatWasSentCompletely() throws {
    #expect(try object { $0.sent(0, through: 5) } == "finished size")
    #expect(try object { $0.sent(0, through: 4) } == "absent")
    #expect(try object { _ in } == "absent")
    #expect(try object { $0.isSentElsewhere = true } == "finished size", "the original may have sent it")
    #expect(try object { ($0.storedChunks, $0.lostAnswer) = (1, .verify) } == "finished size", "it was acknowledged")
  }

  private func verified(
    _ requirement: String, _ body: String, mode: String = "sequential", _ change: (inout TransferFacts) -> Void
  ) throws -> String {
    let proto = try profile(
      """
      profile: 1
      name: x
      file: {need: [sha256]}
      chunk: {mode: \(mode), size: 10, idempotent: true}
      steps:
        chunk: {method: POST, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v, success: {require: [\(requirement)]}}
      """)
    let facts = Scene.facts(size: 30, parts: 3, session: "u") { facts in
      facts.lostAnswer = .part
      change(&facts)
    }
    var context = Scene.context(nil)
    context.fileDigests[.sha256] = RunningDigest.of([1], .sha256)
    return text(ProtocolInUse(proto).interpret(Scene.reply(200, [], body), to: .verify, facts, context))
  }

  private static let size = #"{json: $.size, eq: "{{file.size}}"}"#
  private static let digest = #"{json: $.sha, eq: "{{file.sha256}}"}"#

  @Test func soDoesTheSizeThatAProfileCompares() throws {
    let two: (inout TransferFacts) -> Void = { facts in
      for seq in 0..<2 { facts.sent(seq, through: Int64(seq + 1) * 10) }
      (facts.storedChunks, facts.acked) = (2, 20)
    }
    let whole: (inout TransferFacts) -> Void = { facts in
      two(&facts)
      facts.sent(2, through: 30)
    }
    let part: (inout TransferFacts) -> Void = { facts in
      two(&facts)
      facts.sent(2, through: 29)
    }
    for mode in ["sequential", "parallel"] {
      #expect(try verified(Self.size, #"{"size":30}"#, mode: mode, whole) == "finished size")
      #expect(try verified(Self.size, #"{"size":30}"#, mode: mode, part) == "absent")
    }
    let sha = hexText(RunningDigest.of([1], .sha256).bytes)
    #expect(try verified(Self.digest, #"{"sha":"\#(sha)"}"#, part) == "finished digest", "it shows the content")
  }

  @Test func whatMustNotBeSentAgainIsUnknown() throws {
    let proto = try profile(
      """
      profile: 1
      name: x
      chunk: {mode: single, idempotent: false}
      steps:
        chunk: {method: POST, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v, success: {require: [\(Self.size)]}}
      """)
    #expect(proto.abilities.unrepeatable == [.part])
    let facts = Scene.facts(size: 5, session: "u") { facts in
      facts.lostAnswer = .part
      facts.sent(0, through: 4)
    }
    let meaning = ProtocolInUse(proto).interpret(
      Scene.reply(200, [], #"{"size":5}"#), to: .verify, facts, Scene.context(nil))
    #expect(text(meaning) == "proto.lost_answer unknown")
  }
}
