import HTTPTypes
import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// Dialogues with the machine of a file that is downloaded.
@Suite struct DownloadMachineTests {
  /// In each iteration the engine looks at every file that may begin chunks; a file that can only wait is not among
  /// them.
  @Test func nothingMoreIsBegunWhileTheFirstAnswerIsAwaited() throws {
    var scene = try Scene()
    #expect(scene.machine.mayBeginChunks)
    #expect(scene.advance()?.begin == .control(.create))
    #expect(!scene.machine.mayBeginChunks)
    try scene.answer(size: 1 << 30, received: 1 << 20)
    #expect(scene.machine.mayBeginChunks)
    #expect(scene.advance()?.begin == .chunks(limit: 4))
  }

  @Test func aFileThatCameWithTheFirstAnswerIsPlacedByTheNextUnit() throws {
    var scene = try Scene()
    _ = scene.advance()
    let changes = try scene.answer(size: 100, received: 100)
    #expect(changes.count == 2)
    let next = scene.advance()
    let unit = try #require(next)
    #expect(!unit.wantsParts)
    #expect(unit.changes == [.startFinishing])
    guard case .placing(let proof, named: nil)? = unit.begin else {
      Issue.record("\(String(describing: unit.begin))")
      return
    }
    #expect(proof.digest == Scene.digest)
    #expect(!scene.machine.mayBeginChunks)
  }

  /// Whatever removed the partial file may do so again.
  @Test func aFileWhosePartialFileIsGoneWaits() throws {
    var scene = try Scene()
    _ = scene.advance()
    try scene.answer(size: 100, received: 100)
    guard case .placing(let proof, named: nil)? = scene.advance()?.begin else { return #expect(Bool(false)) }
    _ = scene.machine.placed(.failure(Placing.partialIsGone), proof, retryMs: 5_000)
    let changes = scene.advance()?.changes ?? []
    #expect(changes.contains(.release(notBeforeMs: 5_000, .localIO, isFailure: true)), "\(changes)")
  }

  /// A fetched file waits for the receipts of its chunks before it is placed. While its host pauses it is not released:
  /// it would be claimed again at once, and so on until the pause is over.
  @Test func aFetchedFileNeedsNoServerUntilItIsPlaced() throws {
    var scene = try Scene(fetched: try Scene.sessionOfAFetchedFile())
    let first = scene.advance()
    #expect(first?.wantsParts == true && first?.begin == nil)
    #expect(scene.machine.phase == .held(.parts, nil))
    #expect(scene.machine.needsNoServer(scene.proto), "it waits for the ledger")

    scene.receiptsAreKnown()
    #expect(scene.machine.phase == .working && scene.machine.needsNoServer(scene.proto), "it is to be placed")
    guard case .placing? = scene.advance()?.begin else { return #expect(Bool(false)) }
    #expect(scene.machine.needsNoServer(scene.proto), "it is being placed")
  }

  @Test func aFetchedFileThatIsPlacedNextWaitsForNoHost() throws {
    var scene = try Scene(fetched: try Scene.sessionOfAFetchedFile())
    _ = scene.advance()
    scene.machine.end(.release(notBeforeMs: 5_000, nil, isFailure: false))
    scene.receiptsAreKnown()
    #expect(scene.advance()?.changes == [.release(notBeforeMs: nil, nil, isFailure: false)])
  }

  /// Its session is lost, so that its next step is a request.
  @Test func aFetchedFileThatNeedsAnAnswerWaitsForItsHost() throws {
    var scene = try Scene(fetched: nil)
    _ = scene.advance()
    scene.machine.end(.release(notBeforeMs: 5_000, nil, isFailure: false))
    scene.receiptsAreKnown()
    #expect(!scene.machine.needsNoServer(scene.proto))
    #expect(scene.advance()?.changes == [.release(notBeforeMs: 5_000, nil, isFailure: false)])
  }

  @Test func aFileThatIsNotFetchedNeedsItsServer() throws {
    var scene = try Scene()
    #expect(!scene.machine.needsNoServer(scene.proto))
    _ = scene.advance()
    try scene.answer(size: 1 << 30, received: 1 << 20)
    #expect(!scene.machine.needsNoServer(scene.proto))
  }
}

private struct Scene {
  static let digest = Digest(.crc32c, [1, 2, 3, 4])

  var machine: FileMachine
  let proto: ProtocolInUse

  init() throws { try self.init { _ in } }

  /// A file of 100 bytes that an earlier run fetched completely.
  init(fetched session: SessionFacts?) throws {
    try self.init { claimed in
      (claimed.layout, claimed.doneChunks, claimed.doneBytes) = (ChunkLayout(whole: 100), 1, 100)
      claimed.session = session.map { ClaimedSession(id: SessionID(rawValue: 1), $0) }
    }
  }

  static func sessionOfAFetchedFile() throws -> SessionFacts? {
    var scene = try Scene()
    _ = scene.advance()
    try scene.answer(size: 100, received: 100)
    return scene.machine.facts.session
  }

  private init(_ change: (inout ClaimedFile) -> Void) throws {
    let settings = BatchSettings(destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    proto = ProtocolInUse(try AllProtocols.make(settings, credentialsRegion: nil))
    var claimed = ClaimedFile(
      id: FileID(rawValue: 1), uid: UID(high: 1, low: 2), batch: BatchID(rawValue: 1), generation: 1,
      path: NameBytes("/in/p"), key: NameBytes("p"),
      identity: SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0), failures: 0, layout: nil,
      session: nil, doneChunks: 0, doneBytes: 0, lostAnswer: nil)
    claimed.direction = .download
    change(&claimed)
    machine = FileMachine(
      claimed: claimed, layout: claimed.layout ?? ChunkLayout(whole: 0), location: "http://h/p",
      abilities: proto.abilities)
  }

  mutating func advance() -> FileUnit? { machine.advance(proto, chunkLimit: 8, nowMs: 0) }

  /// The ledger has the receipts that the last unit asked for.
  mutating func receiptsAreKnown() {
    var begun = Begun(file: FileID(rawValue: 1))
    begun.parts = [PartReceipt(seq: 0, length: 100, etag: "", digest: Self.digest, confirmation: .size)]
    machine.begun(begun, asked: 0, nowMs: 0)
  }

  /// The first answer: `received` bytes of a file of `size` bytes.
  @discardableResult mutating func answer(size: Int64, received: Int64) throws -> [FileChange] {
    var begun = Begun(file: FileID(rawValue: 1))
    begun.session = ClaimedSession(id: SessionID(rawValue: 1), SessionFacts(remoteID: nil, intendedAtMs: 0))
    begun.control = (.create, AttemptID(rawValue: 99))
    machine.begun(begun, asked: 0, nowMs: 0)
    var reply = TransferReply()
    (reply.status, reply.bytesReceived) = (206, received)
    reply.fields = [.contentRange: "bytes 0-\(received - 1)/\(size)", .eTag: "\"v1\"", .acceptRanges: "bytes"]
    var context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
    context.receivedDigest = Self.digest
    let meaning = proto.base.interpret(reply, to: .create, machine.facts, context)
    let job = BegunRequest(target: .control(AttemptID(rawValue: 99)), step: .create, failures: 0)
    return machine.concluded(job, meaning, RetryDecision(notBeforeMs: 0, isExhausted: false))
  }
}
