import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// The next step, and the requests for it.
@Suite struct DavPatchStepTests {
  private func step(_ facts: TransferFacts) throws -> String {
    TusScene.say(try DavPatchScene.davPatch().nextStep(facts))
  }

  private func wire(
    _ step: StepRequest, _ facts: TransferFacts = DavPatchScene.facts(), _ credential: Credential? = nil,
    change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> [String] {
    TusScene.wire(
      try DavPatchScene.davPatch(change: change).request(step, facts, DavPatchScene.context(facts, credential)))
  }

  @Test func theServerIsAskedOnceWhatItCan() throws {
    #expect(try step(DavPatchScene.facts(notes: nil) { $0.learned = LearnedFacts() }) == "discover")
    #expect(try wire(.discover) == ["OPTIONS http://h/in/"])
    #expect(try step(DavPatchScene.facts(notes: nil) { $0.learned.discovered = [:] }) == "fail proto.unsupported")
  }

  /// Each session of a file has a different object: aborting an earlier session cannot delete a later object.
  @Test func theTemporaryObjectHasANameOfItsOwn() throws {
    let proto = try DavPatchScene.davPatch()
    func url(_ wallMs: Int64) -> String {
      guard
        case .openSession(let url, let notes) = proto.nextStep(
          DavPatchScene.facts(notes: nil) { $0.wallMs = wallMs })
      else { return "" }
      #expect(notes.isEmpty)
      return url
    }
    #expect(url(1000) == "http://h/in/.transfers-\(Scene.uid)-1000")
    #expect(url(1000) != url(1001))
  }

  @Test func theTemporaryObjectIsMadeInItsCollection() throws {
    #expect(try step(DavPatchScene.facts(notes: [:])) == "create")
    #expect(
      try wire(.create, change: { $0.contentType = "auto" }) == [
        "PUT \(DavPatchScene.temporary)", "content-type: application/pdf", "if-none-match: *",
      ])
    #expect(try step(DavPatchScene.facts(notes: [:]) { $0.parentsMade = 0 }) == "makeParent")
    #expect(try wire(.makeParent(depth: 1)) == ["MKCOL http://h/in/"])
    #expect(try step(DavPatchScene.facts(notes: [:]) { $0.parentsMade = 1 }) == "create")
  }

  @Test func bodiesNameTheirPlace() throws {
    #expect(try step(DavPatchScene.facts()) == "chunks")
    #expect(
      try wire(.chunk(DavPatchScene.chunk(1, 6..<11, acked: 1))) == [
        "PATCH \(DavPatchScene.temporary)", "content-type: application/x-sabredav-partialupdate",
        "x-update-range: bytes=7-10",
      ])
    #expect(
      try wire(.chunk(DavPatchScene.chunk(0, 0..<1)), change: { $0.expectContinue = true }).contains(
        "expect: 100-continue"))
    #expect(try wire(.chunk(DavPatchScene.chunk(0, 0..<1))).contains("x-update-range: bytes=0-0"))
  }

  @Test func aResumedUploadIsAskedForFirst() throws {
    #expect(try step(DavPatchScene.facts { $0.isResumed = true }) == "probe")
    #expect(try step(DavPatchScene.facts { $0.lostAnswer = .part }) == "probe")
    #expect(try step(DavPatchScene.facts { ($0.isResumed, $0.isProbed) = (true, true) }) == "chunks")
    #expect(try step(DavPatchScene.facts(notes: [:]) { $0.isResumed = true }) == "create")
    #expect(try wire(.probe(marker: nil)) == ["HEAD \(DavPatchScene.temporary)"])
  }

  /// HEAD precedes every MOVE, including the first one after a restart.
  @Test func theEnd() throws {
    let want = "want-repr-digest: crc32c=10"
    #expect(try step(DavPatchScene.stored()) == "verify")
    #expect(try step(DavPatchScene.stored { $0.lostAnswer = .finish }) == "verify")
    #expect(try wire(.verify, DavPatchScene.stored()) == ["HEAD \(DavPatchScene.temporary)", want])
    #expect(try step(DavPatchScene.stored { $0.isAbsent = true }) == "finish")
    #expect(
      try wire(.finish) == [
        "MOVE \(DavPatchScene.temporary)", "destination: http://h/in/a%20b.pdf", "if-match: *", "overwrite: T",
      ])
    #expect(try wire(.finish, change: { $0.ifNoneMatch = true }).contains("overwrite: F"))
    let moved = DavPatchScene.stored(["made": "1", "moved": "told"])
    #expect(try step(moved) == "verify")
    #expect(try wire(.verify, moved) == ["HEAD http://h/in/a%20b.pdf", want])
    // If HEAD is not allowed, the answer to MOVE has to suffice.
    #expect(try step(DavPatchScene.stored { $0.inconclusive = [.verify] }) == "finish")
    var inconclusive = moved
    inconclusive.inconclusive = [.verify]
    #expect(try step(inconclusive) == "complete none")
    #expect(try wire(.abort(remoteID: "http://h/in/.x")) == ["DELETE http://h/in/.x"])
  }

  @Test func everyRequestHasTheCredential() throws {
    let steps: [StepRequest] = [
      .discover, .makeParent(depth: 1), .create, .chunk(DavPatchScene.chunk(0, 0..<5)), .probe(marker: nil), .verify,
      .finish, .abort(remoteID: "http://h/x"),
    ]
    for step in steps {
      let fields = try wire(step, DavPatchScene.facts(), .bearer(token: "t0"))
      #expect(fields.contains("authorization: Bearer t0"), "\(step.operation)")
    }
    #expect(throws: Failure.self) { try wire(.save) }
    #expect(throws: Failure.self) { try wire(.create, DavPatchScene.facts(notes: nil)) }
  }

  // MARK: - Sizes

  @Test func layouts() throws {
    let mebibyte: Int64 = 1 << 20
    let plain = try DavPatchScene.davPatch()
    #expect(try plain.layout(size: 0).count == 1)
    #expect(try plain.layout(size: 64 * mebibyte).count == 1)
    #expect(try plain.layout(size: 64 * mebibyte + 1).count == 2)
    #expect(try plain.layout(size: 1 << 40).count == 256)
    let chosen = try DavPatchScene.davPatch { $0.partSize = mebibyte }
    #expect(try chosen.layout(size: 1000 * mebibyte).count == 1000)
    #expect(try chosen.layout(size: 100_000 * mebibyte).count <= 10_000)
    #expect(try [0, 1, 64 * mebibyte + 1].map { try plain.plannedRequests(size: $0) } == [4, 5, 6])
    #expect(throws: TransferError.self) { try DavPatchScene.davPatch { $0.partSize = 16_383 } }
  }

  @Test func bodiesAreShortWhereTheyWereTooLong() throws {
    let proto = try DavPatchScene.davPatch()
    var chunk = DavPatchScene.chunk(1, 100..<200, acked: 10)
    func body(_ limit: String?) -> ByteRange {
      proto.bodyRange(of: chunk, DavPatchScene.facts { $0.session?.notes["body"] = limit })
    }
    #expect(body(nil) == ByteRange(offset: 110, length: 90))
    #expect(body("20") == ByteRange(offset: 110, length: 20))
    #expect(body("-1") == ByteRange(offset: 110, length: 90))
    chunk.mostBody = 15
    #expect(body("20") == ByteRange(offset: 110, length: 15))
  }

  @Test(arguments: ["davpatch+http://h/{path}", "davpatch+http://h/a?b=c", "davpatch+ftp://h/"])
  func destinationsThatCannotBe(_ destination: String) {
    #expect(throws: TransferError.self) { try DavPatchScene.davPatch(destination) }
  }
}
