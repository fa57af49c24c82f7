import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// Dialogues with the machine of a file whose protocol first learns what the server can do: tus.
@Suite struct LatePlanMachineTests {
  private static let mebibyte: Int64 = 1 << 20

  @Test func nothingIsPlannedBeforeTheServerWasAsked() throws {
    var scene = try Scene(size: 200 * Self.mebibyte)
    let first = scene.advance()
    #expect(first?.begin == .control(.discover))
    #expect(first?.plan == nil)
    scene.conclude(.discover, .settled)
    scene.learned("creation")
    #expect(scene.advance()?.begin == .control(.create))
    scene.conclude(.create, .opened(OpenedSession(remoteID: "http://h/1", expiresAtMs: nil)))
    let planned = scene.advance()
    #expect(planned?.plan?.count == 4)
    #expect(planned?.begin == .chunks(limit: 1))
    #expect(planned?.opening == ChunkOpening.none)
  }

  @Test func aFileIsCutForUploadsThatAreJoinedWhereTheyCanBe() throws {
    var scene = try Scene(size: 200 * Self.mebibyte, isParallel: true)
    scene.learned("creation,concatenation")
    let next = scene.advance()
    let unit = try #require(next)
    guard case .beginOwnSession(_, ["mode": "concat"])? = unit.changes.first else {
      Issue.record("\(unit.changes)")
      return
    }
    #expect(unit.plan?.count == 4)
    #expect(unit.begin == .chunks(limit: 4))
    #expect(unit.opening.prepares && unit.opening.probesUncertain)
    #expect(scene.machine.abilities.parallelChunks)
  }

  @Test func anEmptyFileIsPlannedAndDoneWithItsCreation() throws {
    var scene = try Scene(size: 0)
    #expect(scene.advance()?.plan == ChunkLayout(whole: 0))
    scene.conclude(.discover, .settled)
    scene.learned("creation,creation-with-upload")
    #expect(scene.advance()?.begin == .control(.create))
    let changes = scene.conclude(
      .create, .offset(0).with(opened: OpenedSession(remoteID: "http://h/1", expiresAtMs: nil)))
    #expect(
      changes == [
        .openSession(remoteID: "http://h/1", expiresAtMs: nil), .alignChunks(AttemptID(rawValue: 99), offset: 0),
      ])
    try scene.expectProofFromParts([0])
  }

  /// The proof of the file is in the rows of its chunks, including those that another run sent.
  @Test func theReceiptsAreWantedBeforeTheEndIsSaid() throws {
    var scene = try Scene(size: 100 * Self.mebibyte, done: 2)
    scene.learned("creation")
    try scene.expectProofFromParts([64 * Self.mebibyte, 36 * Self.mebibyte])
  }
}

private struct Scene {
  var machine: FileMachine
  let proto: ProtocolInUse

  init(size: Int64, done: Int = 0, isParallel: Bool? = nil) throws {
    let settings = BatchSettings(destination: "tus+http://h/", options: isParallel == true ? ["parallel": true] : [:])
    proto = ProtocolInUse(try AllProtocols.make(settings, credentialsRegion: nil))
    let layout = try proto.layout(size: size)
    let claimed = ClaimedFile(
      id: FileID(rawValue: 1), uid: UID(high: 1, low: 2), batch: BatchID(rawValue: 1), generation: 1,
      path: NameBytes("/p"), key: NameBytes("k"),
      identity: SourceIdentity(size: size, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1), failures: 0,
      layout: done > 0 ? layout : nil,
      session: done > 0
        ? ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: "http://h/1", intendedAtMs: 0)) : nil,
      doneChunks: done, doneBytes: 0, lostAnswer: nil)
    machine = FileMachine(claimed: claimed, layout: layout, location: "http://h/#k", abilities: proto.abilities)
  }

  mutating func learned(_ extensions: String) {
    machine.facts.learned.discovered = ["extensions": extensions, "checksums": "", "versions": "1.0.0"]
  }

  mutating func advance() -> FileUnit? { machine.advance(proto, chunkLimit: 8, nowMs: 0) }

  @discardableResult mutating func conclude(_ step: StepRequest, _ meaning: Interpretation) -> [FileChange] {
    var begun = Begun(file: FileID(rawValue: 1))
    if step == .create {
      begun.session = ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: nil, intendedAtMs: 0))
    }
    begun.control = (step, AttemptID(rawValue: 99))
    machine.begun(begun, asked: 0, nowMs: 0)
    let job = BegunRequest(target: .control(AttemptID(rawValue: 99)), step: step, failures: 0)
    return machine.concluded(job, meaning, RetryDecision(notBeforeMs: 0, isExhausted: false))
  }

  /// Everything is stored: the receipts are read first, then the file completes with the proof from them.
  mutating func expectProofFromParts(_ lengths: [Int64]) throws {
    let next = advance()
    let asking = try #require(next)
    #expect(asking.wantsParts && asking.begin == nil && asking.changes.isEmpty)
    #expect(machine.isHeld)
    #expect(advance() == nil)
    var begun = Begun(file: FileID(rawValue: 1))
    begun.parts = lengths.enumerated().map { seq, length in
      PartReceipt(seq: seq, length: length, etag: "", digest: nil, confirmation: .size)
    }
    machine.begun(begun, asked: 0, nowMs: 0)
    guard case .complete(let receipt)? = advance()?.changes.first else {
      Issue.record("it is not done")
      return
    }
    #expect(receipt.proof.confirmation == .size)
  }
}
