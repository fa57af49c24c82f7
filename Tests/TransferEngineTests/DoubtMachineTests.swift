import HTTPTypes
import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// Chunks whose answers were lost after all of their bytes were sent: the server's list shows whether they arrived.
@Suite struct DoubtMachineTests {
  private let soon = RetryDecision(notBeforeMs: 5_000, isExhausted: false)
  private let proto = ProtocolInUse(ListingProtocol())

  private func machine() -> FileMachine {
    let layout = ChunkLayout(size: 30, chunkSize: 10)
    let claimed = ClaimedFile(
      id: FileID(rawValue: 1), uid: UID(high: 1, low: 2), batch: BatchID(rawValue: 1), generation: 1,
      path: NameBytes("/p"), key: NameBytes("k"),
      identity: SourceIdentity(size: 30, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1), failures: 2, layout: layout,
      session: ClaimedSession(
        id: SessionID(rawValue: 1), SessionFacts(remoteID: "u", intendedAtMs: 0, expiresAtMs: nil)),
      doneChunks: 0, doneBytes: 0, lostAnswer: nil)
    return FileMachine(claimed: claimed, layout: layout, location: "test://k", abilities: proto.abilities)
  }

  private func begin(_ machine: inout FileMachine) -> [BegunRequest] {
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 0)?.begin == .chunks(limit: 3))
    var begun = Begun(file: FileID(rawValue: 1))
    begun.chunks = (0..<3).map { seq in
      let id = Int64(seq) + 1
      return ClaimedChunk(
        id: ChunkID(rawValue: id), attempt: AttemptID(rawValue: id),
        ChunkFacts(seq: seq, range: machine.facts.layout.range(seq)))
    }
    machine.begun(begun, asked: 3, nowMs: 0)
    return begun.chunks.map {
      BegunRequest(
        target: .chunk($0.id, $0.attempt), step: .chunk($0.facts), failures: 0)
    }
  }

  private let lost = Interpretation.failed(Failure(.netReset, "lost"), .retry(isThrottled: false)).with(doubt: [
    "md5": "x"
  ])

  @Test func theListIsAskedForWhenAllRequestsHaveEndedAndBeforeAnythingIsSentAgain() {
    var machine = machine()
    let jobs = begin(&machine)
    #expect(
      machine.concluded(jobs[1], lost, soon) == [
        .doubtChunk(ChunkID(rawValue: 2), AttemptID(rawValue: 2), remote: ["md5": "x"]),
        .retryChunk(ChunkID(rawValue: 2), AttemptID(rawValue: 2), notBeforeMs: 5_000),
      ])
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 9_000) == nil, "other requests are still open")
    for seq in [0, 2] { _ = machine.concluded(jobs[seq], .stored(part(seq), proof: nil), soon) }
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 9_000)?.begin == .control(.probe(marker: nil)))
    var begun = Begun(file: FileID(rawValue: 1))
    begun.control = (.probe(marker: nil), AttemptID(rawValue: 9))
    begun.doubts = [ChunkDoubt(seq: 1, length: 10, remote: ["md5": "x"], isBackingOff: true)]
    machine.begun(begun, asked: 0, nowMs: 9_000)
    #expect(machine.facts.doubts.count == 1)
    let list = (0..<3).map { ListedPart(seq: $0, length: 10, etag: "e", receipt: $0 == 1 ? part(1) : nil) }
    let probe = BegunRequest(target: .control(AttemptID(rawValue: 9)), step: .probe(marker: nil), failures: 0)
    #expect(
      machine.concluded(probe, .partsListed(list, next: nil), soon)
        == [.adoptChunks(AttemptID(rawValue: 9), [part(1)])])
    #expect(machine.facts.isAllStored && machine.bytesStored == 30 && machine.backoffs.isEmpty)
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 9_000)?.begin == .control(.finish))
  }

  @Test func aChunkThatTheListLacksIsSentAgain() {
    var machine = machine()
    let jobs = begin(&machine)
    for seq in [0, 2] { _ = machine.concluded(jobs[seq], .stored(part(seq), proof: nil), soon) }
    _ = machine.concluded(jobs[1], lost, soon)
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 9_000)?.begin == .control(.probe(marker: nil)))
    let probe = BegunRequest(target: .control(AttemptID(rawValue: 9)), step: .probe(marker: nil), failures: 0)
    _ = machine.concluded(probe, .inconclusive, soon)
    #expect(machine.facts.inconclusive == [.probe])
    #expect(machine.advance(proto, chunkLimit: 8, nowMs: 9_000)?.begin == .chunks(limit: 1))
  }

  @Test func whatCouldNotBeAskedIsAskedAgainAfterARepair() {
    var machine = machine()
    let jobs = begin(&machine)
    machine.facts.inconclusive = [.verify]
    _ = machine.concluded(jobs[0], .failed(Failure(.authExpired, "old"), .refreshCredential), soon)
    #expect(machine.facts.inconclusive == [])
  }

  private func part(_ seq: Int) -> PartReceipt {
    PartReceipt(seq: seq, length: 10, etag: "e", digest: nil, confirmation: .etag)
  }
}

private struct ListingProtocol: StepProtocol {
  var name: String { "list" }
  var abilities: ProtocolAbilities { ProtocolAbilities(parallelChunks: true, resumable: true) }

  func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(size: size, chunkSize: 10) }

  func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.isAllStored { return .control(.finish) }
    return facts.lostAnswer != nil && !facts.isProbed ? .control(.probe(marker: nil)) : .chunks
  }
}
