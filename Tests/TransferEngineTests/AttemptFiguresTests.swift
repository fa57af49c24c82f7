import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// What an attempt row records about the bytes that its request moved.
@Suite struct AttemptFiguresTests {
  private let range = ByteRange(offset: 0, length: 1 << 20)

  @Test func aControlRequestMovesNothingOfTheFile() {
    var result = sent(500)
    result.count(0, of: step(), nil, .settled, answer())
    #expect(result.bytesTransferred == 0 && result.bytesAcked == 0)
  }

  @Test func whatIsStoredIsAcknowledged() {
    var result = sent(1 << 20)
    result.count(1 << 20, of: step(), range, .advanced(acked: 1 << 20), answer())
    #expect(result.bytesAcked == 1 << 20)
    #expect(result.outcome == .ok)
  }

  /// Bytes that an offset reveals may have been sent by another request.
  @Test func noMoreIsAcknowledgedByAnOffsetThanWasSent() {
    var result = sent(100)
    result.count(5_000, of: step(), range, .offset(5_000), answer())
    #expect(result.bytesAcked == 100)
  }

  @Test func aBodyOfWhichAPartWasTakenIsToComeAgain() {
    var result = sent(1 << 20)
    result.count(1 << 19, of: step(), range, .advanced(acked: 1 << 19), answer())
    #expect(result.outcome == .retry && result.bytesAcked == 1 << 19)
    var cut = answer()
    cut.isCancelled = true
    result = sent(1 << 20)
    result.count(1 << 19, of: step(), range, .advanced(acked: 1 << 19), cut)
    #expect(result.outcome == .interrupted)
  }

  @Test func aServerThatTakesNextToNothingHasFailed() {
    var result = sent(1 << 20)
    result.count(10, of: step(), range, .advanced(acked: 10), answer())
    #expect(result.code == .protoBadReply)
  }

  @Test func aChunkThatTheServerListsWasNotSent() {
    var (result, found) = (sent(0), step())
    found.isFound = true
    result.count(1 << 20, of: found, range, .stored(part, proof: nil), nil)
    #expect(result.bytesAcked == 0)
    #expect(result.message?.contains("not sent") == true)
  }

  private let part = PartReceipt(
    seq: 0, length: 1 << 20, etag: "e", digest: nil, confirmation: .none, remote: [:])

  private func step() -> BegunRequest {
    let chunk = ChunkFacts(seq: 0, range: range)
    return BegunRequest(
      target: .chunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1)), step: .chunk(chunk), failures: 0)
  }

  private func sent(_ bytes: Int64) -> AttemptResult {
    var result = AttemptResult(outcome: .ok)
    result.bytesTransferred = bytes
    return result
  }

  private func answer() -> TransferReply {
    var reply = TransferReply()
    reply.status = 200
    return reply
  }
}
