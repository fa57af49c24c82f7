import HTTPTypes
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// A machine with the protocol and the rows that it talks to.
struct FileMachineDialogue {
  var machine: FileMachine
  let proto: ProtocolInUse
  let storedPart = PartReceipt(seq: 0, length: 10, etag: "e", digest: nil, confirmation: .digest)

  init(
    chunks: Int, session: String? = nil, done: Int = 0, lost: AttemptOperation? = nil, repeatable: Bool = true,
    failures: Int = 0, direction: Direction = .upload, compared: Bool = false
  ) {
    let layout = chunks == 1 ? ChunkLayout(whole: 10) : ChunkLayout(size: Int64(chunks) * 10, chunkSize: 10)
    let identity = SourceIdentity(size: layout.size, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1)
    var claimed = ClaimedFile(
      id: FileID(rawValue: 1), uid: UID(high: 1, low: 2), batch: BatchID(rawValue: 1), generation: 1,
      path: NameBytes("/p"), key: NameBytes("k"), identity: identity, failures: failures,
      layout: chunks == 1 ? nil : layout,
      session: session.map { ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: $0, intendedAtMs: 0)) },
      doneChunks: done, doneBytes: Int64(done) * 10, lostAnswer: lost)
    claimed.direction = direction
    if compared { claimed.expected.size = layout.size }
    proto = ProtocolInUse(ChunkProtocol(repeatable: repeatable))
    machine = FileMachine(claimed: claimed, layout: layout, location: "test://k", abilities: proto.abilities)
  }

  mutating func advance(limit: Int = 8, now: Int64 = 0) -> FileUnit? {
    machine.advance(proto, chunkLimit: limit, nowMs: now)
  }

  mutating func begin(chunks: [Int]) {
    let claimed = chunks.map { seq in
      ClaimedChunk(
        id: ChunkID(rawValue: Int64(seq) + 1), attempt: AttemptID(rawValue: Int64(seq) + 1),
        ChunkFacts(seq: seq, range: machine.facts.layout.range(seq)))
    }
    var begun = Begun(file: FileID(rawValue: 1))
    begun.chunks = claimed
    machine.begun(begun, asked: machine.openCount - machine.requests.openChunks, nowMs: 0)
  }

  mutating func beginControl(_ step: StepRequest) {
    var begun = Begun(file: FileID(rawValue: 1))
    begun.control = (step, AttemptID(rawValue: 99))
    machine.begun(begun, asked: 0, nowMs: 0)
  }

  mutating func concluded(_ step: StepRequest, _ meaning: Interpretation) -> [FileChange] {
    let job = BegunRequest(target: .control(AttemptID(rawValue: 99)), step: step, failures: 0)
    return machine.concluded(job, meaning, RetryDecision(notBeforeMs: 0, isExhausted: false))
  }

  mutating func stored(_ seq: Int, proof: FileProof? = nil) -> [FileChange] {
    let part = PartReceipt(seq: seq, length: 10, etag: "e", digest: nil, confirmation: .digest)
    return machine.concluded(
      job(seq), .stored(part, proof: proof), RetryDecision(notBeforeMs: 0, isExhausted: false))
  }

  mutating func failed(_ seq: Int, _ failure: Failure, _ action: FailureAction, _ retry: RetryDecision) -> [FileChange]
  {
    machine.concluded(job(seq), .failed(failure, action), retry)
  }

  mutating func interrupted(_ seq: Int, mayHaveArrived: Bool = false) -> [FileChange] {
    machine.interrupted(job(seq), mayHaveArrived: mayHaveArrived)
  }

  private func job(_ seq: Int) -> BegunRequest {
    let chunk = ChunkFacts(seq: seq, range: machine.facts.layout.range(seq))
    return BegunRequest(
      target: .chunk(ChunkID(rawValue: Int64(seq) + 1), AttemptID(rawValue: Int64(seq) + 1)), step: .chunk(chunk),
      failures: 0)
  }
}

/// The smallest protocol with a session, chunks, a probe after a lost answer and a finish.
struct ChunkProtocol: StepProtocol {
  let repeatable: Bool
  var name: String { "test" }
  var abilities: ProtocolAbilities {
    ProtocolAbilities(parallelChunks: true, resumable: true, unrepeatable: repeatable ? [] : [.part])
  }

  func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.layout.count == 1 { return .chunks }
    if facts.session?.remoteID == nil { return .control(.create) }
    if facts.lostAnswer != nil && !facts.isProbed { return .control(.probe(marker: facts.probeMarker)) }
    return facts.isAllStored ? .control(.finish) : .chunks
  }
}
