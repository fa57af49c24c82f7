import TransferModel
import Testing

@testable import TransferProtocols

/// How answers change the facts of a file.
@Suite struct AppliedAnswerTests {
  private let inOrder = ProtocolAbilities(parallelChunks: false, resumable: true)
  private let sideBySide = ProtocolAbilities(parallelChunks: true, resumable: true)

  /// Three chunks of ten bytes; the server has the first `stored` of them.
  private func facts(stored: Int = 0, session: String? = "u", change: (inout TransferFacts) -> Void = { _ in })
    -> TransferFacts
  {
    Scene.facts(size: 30, parts: 3, session: .some(session)) { facts in
      facts.storedChunks = stored
      facts.acked = Int64(stored) * 10
      change(&facts)
    }
  }

  private func chunk(_ facts: TransferFacts, _ seq: Int, acked: Int64 = 0, losses: Int = 0) -> StepRequest {
    .chunk(ChunkFacts(seq: seq, range: facts.layout.range(seq), acked: acked, losses: losses))
  }

  private func part(_ seq: Int) -> PartReceipt {
    PartReceipt(seq: seq, length: 10, etag: "e", digest: nil, confirmation: .none)
  }

  @Test func theFirstNameOfASessionStands() {
    var facts = facts(session: nil) { $0.lostAnswer = .create }
    let first = OpenedSession(remoteID: "a", expiresAtMs: 7)
    let update = facts.apply(.opened(first), to: .create, inOrder)
    guard case .openSession(first, notes: nil)? = update.changes.first else { return #expect(Bool(false)) }
    #expect(facts.lostAnswer == nil)
    #expect(facts.apply(.opened(OpenedSession(remoteID: "b", expiresAtMs: 8)), to: .create, inOrder).changes.isEmpty)
    #expect(facts.session?.remoteID == "a" && facts.session?.expiresAtMs == 7)
  }

  @Test func whatIsRememberedWithTheNameOfASessionIsOneChange() {
    var facts = facts(session: nil)
    let named = OpenedSession(remoteID: "a", expiresAtMs: nil)
    let update = facts.apply(.opened(named).with(notes: ["a": "1"]), to: .create, inOrder)
    #expect(update.changes.count == 1)
    guard case .openSession(named, notes: ["a": "1"])? = update.changes.first else { return #expect(Bool(false)) }
    #expect(facts.session?.notes == ["a": "1"])
  }

  @Test func notesAreMergedAndAnEmptyOneIsForgotten() {
    var facts = facts()
    _ = facts.apply(.settled.with(notes: ["a": "1", "b": "2"]), to: .finish, inOrder)
    let update = facts.apply(.settled.with(notes: ["a": "", "c": "3"]), to: .finish, inOrder)
    guard case .noteSession(["b": "2", "c": "3"])? = update.changes.first else { return #expect(Bool(false)) }
    #expect(facts.apply(.settled.with(notes: ["c": "3"]), to: .finish, inOrder).changes.isEmpty)
    facts.session = nil
    #expect(facts.apply(.settled.with(notes: ["d": "4"]), to: .finish, inOrder).changes.isEmpty)
  }

  @Test func chunksAreCountedAsTheyAreStored() {
    var facts = facts(stored: 1) { $0.lostAnswer = .part }
    #expect(facts.apply(.advanced(acked: 4), to: chunk(facts, 1), inOrder).gained == 4)
    let rest = facts.apply(.stored(part(1), proof: nil), to: chunk(facts, 1, acked: 4), inOrder)
    #expect(rest.gained == 6 && rest.isNew && facts.acked == 20 && facts.lostAnswer == .part)
    let again = facts.apply(.stored(part(2), proof: nil), to: chunk(facts, 2, losses: 1), inOrder)
    #expect(!again.isNew, "the server had it before")
    #expect(facts.isAllStored && facts.lostAnswer == nil)
  }

  @Test func theOffsetOfTheServerIsTheTruth() {
    var facts = facts(stored: 2) { $0.lostAnswer = .part }
    let update = facts.apply(.offset(14), to: .probe(marker: nil), inOrder)
    #expect(update.gained == -6 && !update.isNew && facts.hasLosses)
    #expect(facts.storedChunks == 1 && facts.acked == 14 && facts.isProbed && facts.lostAnswer == nil)
    #expect(!facts.apply(.offset(30), to: .probe(marker: nil), inOrder).isNew, "the server lost data before")
    #expect(facts.isAllStored)
  }

  @Test func aListingIsComparedPageByPage() {
    var facts = facts(stored: 3) { $0.lostAnswer = .finish }
    let first = ListedPart(seq: 0, length: 10, etag: "a")
    #expect(facts.apply(.partsListed([first], next: "1"), to: .probe(marker: nil), sideBySide).changes.isEmpty)
    #expect(facts.probeMarker == "1" && !facts.isProbed)
    let last = ListedPart(seq: 2, length: 10, etag: "c")
    let update = facts.apply(.partsListed([last], next: nil), to: .probe(marker: "1"), sideBySide)
    guard case .disownChunks([1])? = update.changes.first else { return #expect(Bool(false)) }
    #expect(facts.isProbed && facts.lostAnswer == .finish, "only the finish step settles that")
    facts.disowned(1)
    #expect(facts.storedChunks == 2 && facts.acked == 20 && facts.hasLosses)
  }

  @Test func aChunkThatAListNamesTwiceIsAdoptedOnce() {
    var facts = facts(stored: 0)
    facts.doubts = [ChunkDoubt(seq: 1, length: 10, remote: [:], isBackingOff: false)]
    let listed = ListedPart(seq: 1, length: 10, etag: "e", receipt: part(1))
    let update = facts.apply(.partsListed([listed, listed], next: nil), to: .probe(marker: nil), sideBySide)
    guard case .adoptChunks(let parts, _)? = update.changes.first else { return #expect(Bool(false)) }
    #expect(parts.map(\.seq) == [1])
    #expect(facts.storedChunks == 1 && facts.acked == 10)
  }

  @Test func aChunkInDoubtIsAskedAboutBeforeItIsSentAgain() {
    let lost = Interpretation.failed(Failure(.netReset, "cut"), .retry(isThrottled: false))
    var doubted = facts { $0.isProbed = true }
    let update = doubted.apply(lost.with(doubt: ["md5": "x"]), to: chunk(doubted, 0), sideBySide)
    guard case .doubtChunk(["md5": "x"])? = update.changes.first else { return #expect(Bool(false)) }
    #expect(doubted.lostAnswer == .part && !doubted.isProbed)
    let probe = Interpretation.failed(Failure(.netReset, "cut"), .probe)
    var asked = facts { $0.isProbed = true }
    _ = asked.apply(probe, to: chunk(asked, 0), sideBySide)
    #expect(asked.lostAnswer == .part && !asked.isProbed)
    var alone = sideBySide
    alone.chunkOpening = ChunkOpening(prepares: true, probesUncertain: true)
    var byItself = facts { $0.isProbed = true }
    _ = byItself.apply(probe, to: chunk(byItself, 0), alone)
    #expect(byItself.lostAnswer == nil && byItself.isProbed, "the query is about the chunk, not the session")
  }

  @Test func questionsInVainAreAskedAgainAfterARepair() {
    var facts = facts()
    _ = facts.apply(.inconclusive, to: .verify, sideBySide)
    #expect(facts.inconclusive == [.verify] && !facts.isProbed)
    _ = facts.apply(.inconclusive, to: .probe(marker: nil), sideBySide)
    #expect(facts.isProbed)
    _ = facts.apply(.failed(Failure(.authExpired, "old"), .refreshCredential), to: .verify, sideBySide)
    #expect(facts.inconclusive.isEmpty)
  }

  @Test func parentsAreMadeOnce() {
    var facts = facts()
    let missing = Interpretation.failed(Failure(.http4xx, "409"), .makeParents)
    _ = facts.apply(missing, to: chunk(facts, 0), inOrder)
    #expect(facts.parentsMade == 0)
    _ = facts.apply(.settled, to: .makeParent(depth: 1), inOrder)
    #expect(facts.parentsMade == 1)
    let again = facts.apply(missing, to: chunk(facts, 0), inOrder)
    guard case .fail(_, .permanent)? = again.changes.last else { return #expect(Bool(false)) }
  }

  @Test func theLastStepSettlesWhatWasLost() {
    var facts = facts(stored: 3) { ($0.lostAnswer, $0.isAbsent) = (.finish, true) }
    _ = facts.apply(.settled, to: .finish, inOrder)
    #expect(facts.lostAnswer == nil && !facts.isAbsent)
    _ = facts.apply(.absent, to: .verify, inOrder)
    #expect(facts.isAbsent)
    var unseen = self.facts(stored: 1)
    let found = unseen.apply(.finished(FileProof(confirmation: .size, etag: "e")), to: .verify, inOrder)
    guard case .confirmChunks(.size, etag: "e")? = found.changes.first, case .complete? = found.changes.last else {
      return #expect(Bool(false))
    }
    #expect(unseen.acked == 30)
  }

  @Test func aSessionThatIsGoneMayBeBeingCompleted() {
    let gone = Failure(.protoSessionGone, "gone")
    #expect(facts(stored: 3).mayBeCompleting(after: gone, failures: 0))
    #expect(!facts(stored: 3).mayBeCompleting(after: gone, failures: FailureAction.completionPatience))
    #expect(!facts(stored: 2).mayBeCompleting(after: gone, failures: 0))
    #expect(!facts(stored: 3).mayBeCompleting(after: Failure(.integrityMismatch, "other"), failures: 0))
  }
}
