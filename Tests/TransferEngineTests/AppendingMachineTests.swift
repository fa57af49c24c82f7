import HTTPTypes
import Testing
import TransferLedger
import TransferModel
import TransferProtocols
import TransferTestSupport

@testable import TransferEngine

/// Dialogues with the machine of a file whose server holds parts of chunks.
@Suite struct AppendingMachineTests {
  private let soon = RetryDecision(notBeforeMs: 5_000, isExhausted: false)

  @Test func aProbeSetsWhatIsDoneWhateverWasKnown() {
    var scene = Scene(size: 35, done: 3, session: "u")
    #expect(scene.advance()?.begin == .control(.probe(marker: nil)))
    #expect(scene.concluded(.probe(marker: nil), .offset(12)) == [.alignChunks(AttemptID(rawValue: 99), offset: 12)])
    #expect(scene.machine.bytesStored == 12)
    #expect(!scene.machine.facts.isAllStored)
    #expect(scene.advance()?.begin == .chunks(limit: 1))
    #expect(scene.machine.facts.isProbed)
  }

  @Test func aFailedChunkOfAnAppendingProtocolTakesTheFileWithIt() {
    var scene = Scene(size: 35)
    scene.open()
    let job = scene.begin(seq: 0)
    let changes = scene.machine.concluded(
      job, .failed(Failure(.netReset, "cut"), .retry(isThrottled: false)), soon)
    #expect(changes == [.releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    #expect(scene.advance()?.changes == [.release(notBeforeMs: 5_000, .netReset, isFailure: true)])
  }

  @Test func aPartlyTakenBodyIsNoFailureAndCounts() {
    var scene = Scene(size: 35)
    scene.open()
    let job = scene.begin(seq: 0)
    #expect(
      scene.machine.concluded(job, .advanced(acked: 4), soon)
        == [.advanceChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1), acked: 4)])
    #expect(scene.machine.bytesStored == 4)
    #expect(scene.advance()?.begin == .chunks(limit: 1))
    let rest = scene.begin(seq: 0, acked: 4)
    _ = scene.machine.concluded(rest, .stored(scene.part(0), proof: nil), soon)
    #expect(scene.machine.bytesStored == 10)
  }

  @Test func theFirstChunkOpensItsSessionEvenWhenItsBodyFails() {
    var scene = Scene(size: 5, opensWithChunk: true)
    #expect(scene.advance()?.begin == .chunkThatOpensSession)
    var begun = Begun(file: FileID(rawValue: 1))
    begun.session = ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: nil, intendedAtMs: 1))
    let job = scene.begin(seq: 0, begun: begun)
    let meaning = Interpretation.failed(Failure(.http5xx, "later"), .retry(isThrottled: false)).with(
      opened: OpenedSession(remoteID: "/u/1", expiresAtMs: 7))
    #expect(
      scene.machine.concluded(job, meaning, soon) == [
        .openSession(remoteID: "/u/1", expiresAtMs: 7), .releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1)),
      ])
    #expect(scene.machine.facts.session?.remoteID == "/u/1")
    let second = OpenedSession(remoteID: "/u/2", expiresAtMs: nil)
    #expect(scene.machine.heard(job, second, scene.proto) == [], "the first name is kept")
  }

  /// The request began as unrepeatable, and an interim answer opened its session.
  @Test func aRequestThatOpenedItsSessionCanBeAskedAbout() {
    var scene = Scene(size: 5, unrepeatable: [.part], opensWithChunk: true, isAskableOnceOpen: true)
    #expect(scene.advance()?.isRepeatable == false)
    var begun = Begun(file: FileID(rawValue: 1))
    begun.session = ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: nil, intendedAtMs: 1))
    let job = scene.begin(seq: 0, begun: begun)
    #expect(
      scene.machine.heard(job, OpenedSession(remoteID: "/u/1", expiresAtMs: nil), scene.proto)
        == [.openSession(remoteID: "/u/1", expiresAtMs: nil), .askAbout(AttemptID(rawValue: 1))])
    #expect(scene.machine.heard(job, OpenedSession(remoteID: "/u/1", expiresAtMs: nil), scene.proto) == [])
    _ = scene.advance()
    #expect(
      scene.machine.interrupted(job, mayHaveArrived: true)
        == [.releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    #expect(scene.machine.ending == nil)
  }

  @Test func aUselessSessionIsEndedAtTheServer() {
    var scene = Scene(size: 35, done: 1, session: "u")
    let failure = Failure(.protoOffset, "it forgot")
    _ = scene.concluded(.probe(marker: nil), .failed(failure, .sessionGone))
    #expect(scene.advance()?.changes.prefix(2) == [.giveUpSession, .resetChunks])
  }

  /// Otherwise, the server would be queried endlessly about an upload that cannot recover, or the upload would be
  /// repeated endlessly.
  @Test(arguments: [0, 1]) func anUploadThatIsWholeAndUselessIsAFailureEachTime(failures: Int) {
    var scene = Scene(size: 35, done: 4, session: "u", failures: failures)
    let failure = Failure(.protoOffset, "it is not what was sent")
    _ = scene.concluded(.verify, .failed(failure, .sessionGone))
    #expect(
      scene.advance()?.changes == [
        .giveUpSession, .resetChunks, .release(notBeforeMs: 0, .protoOffset, isFailure: true),
      ])
  }

  @Test func whatIsOnlySentAgainIsNoProgress() {
    let part = PartReceipt(seq: 0, length: 10, etag: "", digest: nil, confirmation: .none)
    for (meaning, losses, left) in [
      (Interpretation.advanced(acked: 5), 0, 0), (.advanced(acked: 5), 1, 3), (.stored(part, proof: nil), 0, 0),
      (.stored(part, proof: nil), 2, 3), (.chunkProbed(acked: 5), 0, 0), (.chunkProbed(acked: 5), 1, 3),
    ] {
      var scene = Scene(size: 35, session: "u", failures: 3)
      let job = scene.begin(seq: 0, losses: losses)
      _ = scene.machine.concluded(job, meaning, soon)
      #expect(scene.machine.failures == left, "\(meaning) after \(losses) losses")
    }
  }

  @Test func anOffsetOfAFileThatLostSomethingIsNoProgress() {
    var scene = Scene(size: 35, done: 1, session: "u", failures: 3)
    _ = scene.concluded(.probe(marker: nil), .offset(5))
    _ = scene.concluded(.probe(marker: nil), .offset(25))
    #expect(scene.machine.failures == 3)
    var other = Scene(size: 35, done: 1, session: "u", failures: 3)
    _ = other.concluded(.probe(marker: nil), .offset(25))
    #expect(other.machine.failures == 0)
    var claimed = Scene(size: 35, done: 1, session: "u", failures: 3, hasLosses: true)
    _ = claimed.concluded(.probe(marker: nil), .offset(25))
    #expect(claimed.machine.failures == 3)
  }

  @Test func notesAreMergedAndForgottenByName() {
    var scene = Scene(size: 35)
    scene.open()
    let job = scene.begin(seq: 0)
    let first = Interpretation.advanced(acked: 1).with(notes: ["t": "1", "x": "y"])
    #expect(scene.machine.concluded(job, first, soon).first == .noteSession(["t": "1", "x": "y"]))
    let next = scene.begin(seq: 0, acked: 1)
    let second = Interpretation.failed(Failure(.http5xx, "later"), .retry(isThrottled: true)).with(notes: [
      "t": "2", "x": "",
    ])
    #expect(scene.machine.concluded(next, second, soon).first == .noteSession(["t": "2"]))
  }

  @Test func aServerThatIsAtItIsAskedAgainWithoutAFailure() {
    var scene = Scene(size: 35, done: 4, session: "u")
    scene.machine.facts.isProbed = true
    let begun = scene.advance(now: 100)
    #expect(begun?.begin == .control(.finish))
    #expect(scene.concluded(.finish, .notYet(afterMs: 2_000)) == [])
    let released = scene.advance(now: 150)
    #expect(released?.changes == [.release(notBeforeMs: 2_100, nil, isFailure: false)])
  }

  @Test func aDroppedSessionEndsAndItsFileGoesOnAtOnceButNotForEver() {
    var scene = Scene(size: 35, session: "old", expiresAtMs: 50)
    let unit = scene.advance(now: 60)
    #expect(
      unit?.changes == [
        .endSession(.gone), .resetChunks, .release(notBeforeMs: 60, .protoSessionGone, isFailure: true),
      ])
    var again = Scene(size: 35, session: "old", expiresAtMs: 50, failures: 10)
    guard case .fail(.protoSessionGone, _, false)? = again.advance(now: 60)?.changes.last else {
      Issue.record("a server whose sessions expire immediately keeps us busy endlessly")
      return
    }
  }

  @Test func anAnswerThatWasLostToAnUnrepeatableFinishLeavesADoubt() {
    var scene = Scene(size: 35, done: 4, session: "u", unrepeatable: [.finish])
    scene.machine.facts.isProbed = true
    #expect(scene.advance()?.isRepeatable == false)
    scene.beginControl(.finish)
    let job = BegunRequest(target: .control(AttemptID(rawValue: 99)), step: .finish, failures: 0)
    #expect(scene.machine.interrupted(job, mayHaveArrived: true) == [])
    guard case .unknown? = scene.advance()?.changes.last else {
      Issue.record("it would be repeated silently")
      return
    }
  }

  /// Whatever the order of answers, progress is the sum over the chunks and never decreases.
  @Test(arguments: 0..<200) func progressIsTheSumOverChunksAndNeverGoesBack(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    var scene = Scene(size: 95, isParallel: true, session: "u")
    scene.machine.facts.isProbed = true
    var held = [Int64](repeating: 0, count: 10)
    var isDone = [Bool](repeating: false, count: 10)
    var open: [Int: BegunRequest] = [:]
    while isDone.contains(false) {
      let before = scene.machine.bytesStored
      if open.count < 4, let seq = (0..<10).filter({ !isDone[$0] && open[$0] == nil }).randomElement(using: &generator)
      {
        open[seq] = scene.begin(seq: seq, acked: held[seq])
      }
      guard let seq = open.keys.sorted().randomElement(using: &generator), let job = open.removeValue(forKey: seq)
      else {
        continue
      }
      let length = scene.machine.facts.layout.range(seq).length
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: _ = scene.machine.interrupted(job, mayHaveArrived: true)
      case 1:
        let failure = Interpretation.failed(Failure(.netReset, "cut"), .repair)
        scene.machine.failureCounts.endRepairs()
        _ = scene.machine.concluded(job, failure, soon)
      case 2 where held[seq] + 1 < length:
        held[seq] = Int64.random(in: held[seq] + 1..<length, using: &generator)
        _ = scene.machine.concluded(job, .advanced(acked: held[seq]), soon)
      default:
        (held[seq], isDone[seq]) = (length, true)
        _ = scene.machine.concluded(job, .stored(scene.part(seq), proof: nil), soon)
      }
      #expect(scene.machine.bytesStored == held.reduce(0, +))
      #expect(scene.machine.bytesStored >= before)
    }
    #expect(scene.machine.facts.isAllStored && scene.machine.bytesStored == 95)
  }
}

/// A machine with an appending protocol and chunks of ten bytes.
private struct Scene {
  var machine: FileMachine
  let proto: ProtocolInUse

  init(
    size: Int64, isParallel: Bool = false, done: Int = 0, session: String? = nil, expiresAtMs: Int64? = nil,
    failures: Int = 0, unrepeatable: Set<AttemptOperation> = [], opensWithChunk: Bool = false, hasLosses: Bool = false,
    isAskableOnceOpen: Bool = false
  ) {
    let layout = ChunkLayout(size: size, chunkSize: 10)
    var claimed = ClaimedFile(
      id: FileID(rawValue: 1), uid: UID(high: 1, low: 2), batch: BatchID(rawValue: 1), generation: 1,
      path: NameBytes("/p"), key: NameBytes("k"),
      identity: SourceIdentity(size: size, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1), failures: failures,
      layout: layout,
      session: session.map {
        ClaimedSession(
          id: SessionID(rawValue: 1), SessionFacts(remoteID: $0, intendedAtMs: 0, expiresAtMs: expiresAtMs))
      },
      doneChunks: done, doneBytes: min(size, Int64(done) * 10), lostAnswer: nil)
    claimed.hasLosses = hasLosses
    proto = ProtocolInUse(
      AppendingProtocol(
        isParallel: isParallel, unrepeatable: unrepeatable, opensWithChunk: opensWithChunk,
        isAskableOnceOpen: isAskableOnceOpen))
    machine = FileMachine(claimed: claimed, layout: layout, location: "test://k", abilities: proto.abilities)
  }

  mutating func advance(now: Int64 = 0) -> FileUnit? { machine.advance(proto, chunkLimit: 8, nowMs: now) }

  mutating func open() {
    _ = advance()
    var begun = Begun(file: FileID(rawValue: 1))
    begun.session = ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: nil, intendedAtMs: 0))
    begun.control = (.create, AttemptID(rawValue: 99))
    machine.begun(begun, asked: 0, nowMs: 0)
    _ = concluded(.create, .opened(OpenedSession(remoteID: "u", expiresAtMs: nil)))
  }

  /// One chunk begins, as the ledger would report it.
  mutating func begin(seq: Int, acked: Int64 = 0, losses: Int = 0, begun: Begun = Begun(file: FileID(rawValue: 1)))
    -> BegunRequest
  {
    var begun = begun
    let range = machine.facts.layout.range(seq)
    let (chunk, attempt) = (ChunkID(rawValue: Int64(seq) + 1), AttemptID(rawValue: Int64(seq) + 1))
    begun.chunks = [
      ClaimedChunk(id: chunk, attempt: attempt, ChunkFacts(seq: seq, range: range, acked: acked, losses: losses))
    ]
    machine.begun(begun, asked: machine.openCount - machine.requests.openChunks, nowMs: 0)
    return BegunRequest(
      target: .chunk(chunk, attempt), step: .chunk(ChunkFacts(seq: seq, range: range, acked: acked, losses: losses)),
      failures: 0)
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

  func part(_ seq: Int) -> PartReceipt {
    PartReceipt(
      seq: seq, length: machine.facts.layout.range(seq).length, etag: "", digest: nil, confirmation: .size)
  }
}

private struct AppendingProtocol: StepProtocol, VaryingAbilities {
  let isParallel: Bool
  let unrepeatable: Set<AttemptOperation>
  let opensWithChunk: Bool
  let isAskableOnceOpen: Bool

  func abilities(_ facts: TransferFacts) -> ProtocolAbilities {
    var abilities = abilities
    if isAskableOnceOpen && facts.session?.remoteID != nil { abilities.unrepeatable = [] }
    return abilities
  }

  var name: String { "append" }
  var abilities: ProtocolAbilities {
    ProtocolAbilities(parallelChunks: isParallel, resumable: true, unrepeatable: unrepeatable)
  }

  func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(size: size, chunkSize: 10) }

  func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard let session = facts.session, session.remoteID != nil else {
      return opensWithChunk ? .chunkThatOpensSession : .control(.create)
    }
    if let end = session.expiresAtMs, end < facts.wallMs {
      return .dropSession(Failure(.protoSessionGone, "it expired"))
    }
    if facts.isResumed && !facts.isProbed { return .control(.probe(marker: nil)) }
    return facts.isAllStored ? .control(.finish) : .chunks
  }
}
