import HTTPTypes
import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// Dialogues with the machine of one file: an event in, changes and the next step out.
@Suite struct FileMachineTests {
  private let soon = RetryDecision(notBeforeMs: 5_000, isExhausted: false)
  private let lastTime = RetryDecision(notBeforeMs: 5_000, isExhausted: true)
  private let refused = Failure(.netRefused, "connection refused")

  @Test func aWholeFileIsPlannedSentAndDoneInTwoUnits() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    let nextFirst = dialogue.advance()
    let first = try #require(nextFirst)
    #expect(first.plan == ChunkLayout(whole: 10))
    #expect(first.begin == .chunks(limit: 1))
    dialogue.begin(chunks: [0])
    let changes = dialogue.stored(0, proof: FileProof(confirmation: .digest))
    #expect(changes.count == 2)
    #expect(changes.first == .storeChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1), dialogue.storedPart))
    guard case .complete(let receipt)? = changes.last else { throw Unexpected() }
    #expect(receipt.proof.confirmation == .digest)
    #expect(dialogue.machine.isReleased)
    #expect(dialogue.advance() == nil)
  }

  @Test func aFailedWholeFileGoesBackToTheQueueWithItsTime() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    let changes = dialogue.failed(0, refused, .retry(isThrottled: false), soon)
    #expect(changes == [.releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(unit.changes == [.release(notBeforeMs: 5_000, .netRefused, isFailure: true)])
    #expect(dialogue.machine.isReleased)
  }

  @Test func theLastAttemptFailsTheFileAndKeepsItsSession() throws {
    var dialogue = FileMachineDialogue(chunks: 3, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0, 1])
    #expect(
      dialogue.failed(0, refused, .retry(isThrottled: false), lastTime)
        == [.failChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    #expect(dialogue.advance() == nil, "another request is still open")
    _ = dialogue.interrupted(1)
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(unit.changes == [.fail(.netRefused, "connection refused", keepsSession: true)])
  }

  /// A download of which nothing arrived has only an empty partial file, which is not needed.
  @Test(arguments: [0, 1]) func theLastAttemptKeepsWhatADownloadHas(_ done: Int) throws {
    var dialogue = FileMachineDialogue(chunks: 3, session: "u", done: done, direction: .download)
    _ = dialogue.advance()
    dialogue.begin(chunks: [2])
    _ = dialogue.failed(2, refused, .retry(isThrottled: false), lastTime)
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(unit.changes == [.fail(.netRefused, "connection refused", keepsSession: done > 0)])
  }

  /// The partial file lost a write: its stored chunks do not count, nor do those that other requests still store.
  @Test func aFileThatLostAWriteBeginsAnew() throws {
    var lost = Failure(.localIO, "cannot sync the file")
    lost.isLostWrite = true
    var dialogue = FileMachineDialogue(chunks: 3, session: "u", done: 1, direction: .download)
    _ = dialogue.advance()
    dialogue.begin(chunks: [1, 2])
    _ = dialogue.failed(1, lost, .permanent, lastTime)
    _ = dialogue.stored(2)
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(unit.changes == [.giveUpSession, .resetChunks, .fail(.localIO, lost.message, keepsSession: false)])
  }

  /// Parts of this length do not arrive: the upload is given up, and the file is recut after its last request has
  /// ended.
  @Test func aFileOfWhichNothingArrivesIsCutAnew() throws {
    let shorter = ChunkLayout(size: 30, chunkSize: 5)
    var decision = soon
    decision.shorterLayout = shorter
    var dialogue = FileMachineDialogue(chunks: 3, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0, 1])
    #expect(
      dialogue.failed(0, refused, .retry(isThrottled: false), decision)
        == [.releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    #expect(dialogue.advance() == nil, "another request is still open")
    _ = dialogue.interrupted(1)
    let next = dialogue.advance()
    #expect(
      try #require(next).changes == [
        .giveUpSession, .resetChunks, .recut(shorter), .release(notBeforeMs: 5_000, .netRefused, isFailure: false),
      ])
  }

  /// The other chunk arrived meanwhile: what is stored is not discarded.
  @Test func aFileOfWhichSomethingArrivedKeepsItsLayout() throws {
    var decision = soon
    decision.shorterLayout = ChunkLayout(size: 30, chunkSize: 5)
    var dialogue = FileMachineDialogue(chunks: 3, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0, 1])
    _ = dialogue.failed(0, refused, .retry(isThrottled: false), decision)
    _ = dialogue.stored(1)
    let next = dialogue.advance()
    #expect(try #require(next).changes == [.release(notBeforeMs: 5_000, .netRefused, isFailure: false)])
  }

  /// In whichever order the two become known.
  @Test(arguments: [false, true]) func aFileWithoutItsSessionIsNotDividedAgain(_ isLostFirst: Bool) throws {
    var decision = soon
    decision.shorterLayout = ChunkLayout(size: 30, chunkSize: 5)
    var dialogue = FileMachineDialogue(chunks: 3, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0, 1])
    let gone = Failure(.http404, "no such upload")
    if isLostFirst { _ = dialogue.failed(1, gone, .sessionGone, soon) }
    _ = dialogue.failed(0, refused, .retry(isThrottled: false), decision)
    if !isLostFirst { _ = dialogue.failed(1, gone, .sessionGone, soon) }
    let next = dialogue.advance()
    let changes = try #require(next).changes
    #expect(Array(changes.prefix(2)) == [.endSession(.gone), .resetChunks])
    #expect(changes.count == 3, "it is released, and keeps its layout: \(changes)")
  }

  @Test func chunksBackOffAloneWhileOthersGoOn() throws {
    var dialogue = FileMachineDialogue(chunks: 3, session: "u")
    _ = dialogue.advance(limit: 2)
    dialogue.begin(chunks: [0, 1])
    #expect(
      dialogue.failed(0, refused, .retry(isThrottled: false), soon)
        == [.retryChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1), notBeforeMs: 5_000)])
    #expect(dialogue.advance(limit: 2, now: 1_000)?.begin == .chunks(limit: 1), "the third chunk, not the waiting one")
    dialogue.begin(chunks: [2])
    _ = dialogue.stored(1)
    #expect(dialogue.advance(limit: 2, now: 4_999) == nil)
    #expect(dialogue.advance(limit: 2, now: 5_000)?.begin == .chunks(limit: 1))
  }

  @Test func whereFourChunksFailedOnlyThoseThatAreDueAreTried() throws {
    var dialogue = FileMachineDialogue(chunks: 12, session: "u")
    _ = dialogue.advance(limit: 5)
    dialogue.begin(chunks: Array(0..<5))
    for seq in 0..<5 {
      let later = RetryDecision(notBeforeMs: seq < 3 ? 5_000 : 9_000, isExhausted: false)
      _ = dialogue.failed(seq, refused, .retry(isThrottled: false), later)
    }
    #expect(dialogue.advance(limit: 5, now: 1_000) == nil, "seven were not tried yet")
    #expect(dialogue.advance(limit: 1, now: 5_000)?.begin == .chunks(limit: 1))
    dialogue.begin(chunks: [0])
    // Four others are backing off; two of them are due now.
    #expect(dialogue.advance(limit: 5, now: 5_000)?.begin == .chunks(limit: 2))
    dialogue.begin(chunks: [1, 2])
    _ = dialogue.stored(0)
    #expect(dialogue.advance(limit: 9, now: 5_000)?.begin == .chunks(limit: 7), "a success lets others begin")
  }

  @Test func allChunksStoredLeadsToFinishAndDone() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0, 1])
    _ = dialogue.stored(1)
    #expect(dialogue.advance() == nil)
    _ = dialogue.stored(0)
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(unit.changes == [.startFinishing])
    #expect(unit.begin == .control(.finish))
    #expect(unit.wantsParts)
    dialogue.beginControl(.finish)
    #expect(dialogue.advance() == nil, "one control step at a time")
    let changes = dialogue.concluded(.finish, .finished(FileProof(confirmation: .etag)))
    #expect(changes.first == .endSession(.completed))
    #expect(dialogue.machine.isReleased)
  }

  @Test func aWholeFileFoundAtTheServerIsDoneByTheQuestion() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    _ = dialogue.advance()
    dialogue.beginControl(.verify)
    let changes = dialogue.concluded(.verify, .finished(FileProof(confirmation: .size, etag: "e")))
    #expect(changes.first == .confirmChunks(AttemptID(rawValue: 99), .size, etag: "e"))
    #expect(changes.count == 2)
  }

  @Test func aLostSessionStartsOverAfterItsBackoff() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    _ = dialogue.failed(0, Failure(.protoSessionGone, "gone"), .sessionGone, soon)
    let nextUnit = dialogue.advance()
    let unit = try #require(nextUnit)
    #expect(
      unit.changes == [
        .endSession(.gone), .resetChunks, .release(notBeforeMs: 5_000, .protoSessionGone, isFailure: true),
      ])
  }

  @Test func aSessionThatVanishesWithEverythingStoredIsAskedForAgainFirst() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u", done: 2, lost: .finish)
    _ = dialogue.advance()
    dialogue.beginControl(.probe(marker: nil))
    _ = dialogue.concluded(.probe(marker: nil), .failed(Failure(.protoSessionGone, "gone"), .sessionGone))
    #expect(dialogue.advance()?.changes == [.release(notBeforeMs: 0, .protoSessionGone, isFailure: true)])
    var patient = FileMachineDialogue(
      chunks: 2, session: "u", done: 2, lost: .finish, failures: FailureAction.completionPatience)
    _ = patient.advance()
    patient.beginControl(.probe(marker: nil))
    _ = patient.concluded(.probe(marker: nil), .failed(Failure(.protoSessionGone, "gone"), .sessionGone))
    #expect(patient.advance()?.changes.prefix(2) == [.endSession(.gone), .resetChunks])
  }

  @Test func anObjectThatIsNotWhatWasSentIsNotAskedForAgain() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u", done: 2)
    _ = dialogue.advance()
    dialogue.beginControl(.finish)
    _ = dialogue.concluded(.finish, .failed(Failure(.integrityMismatch, "another size"), .sessionGone))
    #expect(dialogue.advance()?.changes.prefix(3) == [.resumeSending, .endSession(.gone), .resetChunks])
  }

  @Test func whatVerifyDidNotFindMayBeThereAfterTheFinish() {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u", done: 2, lost: .finish)
    dialogue.beginControl(.verify)
    _ = dialogue.concluded(.verify, .absent)
    #expect(dialogue.machine.facts.isAbsent)
    dialogue.beginControl(.finish)
    _ = dialogue.concluded(.finish, .settled)
    #expect(!dialogue.machine.facts.isAbsent)
  }

  @Test func theServersListDecidesWhichChunksAreDone() throws {
    var dialogue = FileMachineDialogue(chunks: 3, session: "u", done: 3, lost: .finish)
    #expect(dialogue.advance()?.begin == .control(.probe(marker: nil)))
    dialogue.beginControl(.probe(marker: nil))
    let first = ListedPart(seq: 0, length: 10, etag: "a")
    #expect(dialogue.concluded(.probe(marker: nil), .partsListed([first], next: "1")) == [])
    #expect(dialogue.advance()?.begin == .control(.probe(marker: "1")))
    dialogue.beginControl(.probe(marker: "1"))
    let short = ListedPart(seq: 1, length: 9, etag: "b")
    let last = ListedPart(seq: 2, length: 10, etag: "c")
    #expect(dialogue.concluded(.probe(marker: "1"), .partsListed([short, last], next: nil)) == [.disownChunks([1])])
    #expect(dialogue.advance() == nil, "how many chunks are lost comes with the commit")
    dialogue.machine.begun(
      Begun(file: FileID(rawValue: 1), disownedChunks: 1), asked: 0, nowMs: 0)
    #expect(dialogue.advance()?.begin == .chunks(limit: 1))
  }

  @Test func aChangedSourceIsSupersededBeforeAnythingIsCompleted() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u")
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    let now = SourceIdentity(size: 30, mtimeNs: 9, ctimeNs: 9, inode: 1, device: 1)
    let decision = RetryDecision(notBeforeMs: 7_000, isExhausted: false, identityNow: now)
    _ = dialogue.failed(0, Failure(.sourceChanged, "changed"), .permanent, decision)
    #expect(dialogue.advance()?.changes == [.supersede(now, notBeforeMs: 7_000)])
  }

  /// No other version is sent in the place of the one that a list means.
  @Test func aComparedSourceThatChangedFails() throws {
    var dialogue = FileMachineDialogue(chunks: 2, session: "u", compared: true)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    let now = SourceIdentity(size: 30, mtimeNs: 9, ctimeNs: 9, inode: 1, device: 1)
    let decision = RetryDecision(notBeforeMs: 7_000, isExhausted: false, identityNow: now)
    _ = dialogue.failed(0, Failure(.sourceChanged, "changed"), .permanent, decision)
    let text = "changed; it was compared with a list or a plan, and is sent when it is added again"
    #expect(dialogue.advance()?.changes == [.fail(.sourceChanged, text, keepsSession: false)])
  }

  @Test func aSourceThatNeverRestsFails() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    let now = SourceIdentity(size: 30, mtimeNs: 9, ctimeNs: 9, inode: 1, device: 1)
    let decision = RetryDecision(notBeforeMs: 7_000, isExhausted: false, identityNow: now, isRestless: true)
    _ = dialogue.failed(0, Failure(.sourceChanged, "changed"), .permanent, decision)
    #expect(dialogue.advance()?.changes == [.fail(.sourceChanged, "changed", keepsSession: false)])
  }

  @Test func anInterruptedPostThatMayHaveArrivedIsUnknown() throws {
    var dialogue = FileMachineDialogue(chunks: 1, repeatable: false)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    #expect(
      dialogue.interrupted(0, mayHaveArrived: true) == [.chunkUnknown(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    guard case .unknown(.engineInterrupted, _)? = dialogue.advance()?.changes.first else { throw Unexpected() }
  }

  @Test func anInterruptedPostThatNeverLeftIsGivenBack() throws {
    var dialogue = FileMachineDialogue(chunks: 1, repeatable: false)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    dialogue.machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
    #expect(dialogue.interrupted(0) == [.releaseChunk(ChunkID(rawValue: 1), AttemptID(rawValue: 1))])
    #expect(dialogue.advance()?.changes == [.release(notBeforeMs: nil, nil, isFailure: false)])
  }

  @Test func whatFailsWhileTheEngineDrainsHasFailed() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    _ = dialogue.advance()
    dialogue.begin(chunks: [0])
    dialogue.machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
    _ = dialogue.failed(0, Failure(.http404, "not found"), .permanent, soon)
    #expect(dialogue.advance()?.changes == [.fail(.http404, "not found", keepsSession: false)])

    var posted = FileMachineDialogue(chunks: 1, repeatable: false)
    _ = posted.advance()
    posted.begin(chunks: [0])
    posted.machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
    _ = posted.failed(0, Failure(.protoLostAnswer, "lost"), .unknown, soon)
    #expect(posted.advance()?.changes == [.unknown(.protoLostAnswer, "lost")])
  }

  @Test func aFileWithoutAnyChunkToSendDoesNotKeepTheEngineAlive() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    var last: FileUnit?
    for round in 0..<200 {
      last = dialogue.advance(now: Int64(round) * 1_000)
      guard last?.begin != nil else { break }
      dialogue.machine.begun(
        Begun(file: FileID(rawValue: 1)), asked: dialogue.machine.openCount, nowMs: Int64(round) * 1_000)
    }
    guard case .fail(let code, _, _)? = last?.changes.first else { throw Unexpected() }
    #expect(code == .engineBug && dialogue.machine.isReleased)
  }

  @Test func repairsAreRepeatedAtOnceButNotForEver() throws {
    var dialogue = FileMachineDialogue(chunks: 1)
    for _ in 1...FileFailures.repairLimit {
      #expect(dialogue.advance()?.begin == .chunks(limit: 1))
      dialogue.begin(chunks: [0])
      _ = dialogue.failed(0, Failure(.http400, "wrong region"), .repair, soon)
    }
    #expect(dialogue.advance()?.begin == .chunks(limit: 1))
    dialogue.begin(chunks: [0])
    _ = dialogue.failed(0, Failure(.http400, "wrong region"), .repair, soon)
    #expect(dialogue.advance()?.changes == [.release(notBeforeMs: 5_000, .http400, isFailure: true)])
  }

  struct Unexpected: Error {}
}
