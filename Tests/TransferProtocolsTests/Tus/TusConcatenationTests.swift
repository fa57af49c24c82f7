import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Several parallel uploads that are joined at the end.
@Suite struct TusConcatenationTests {
  private let remote = ["url": "http://h/files/7", "written": "/files/7"]

  private func facts(_ change: (inout TransferFacts) -> Void = { _ in }) -> TransferFacts {
    TusScene.facts(size: 10, chunk: 4, extensions: "creation,concatenation") { facts in
      TusScene.joined(&facts)
      change(&facts)
    }
  }

  private func stored(_ facts: inout TransferFacts) {
    facts.storedChunks = facts.layout.count
    facts.parts = [("hell", 0), ("o wo", 1), ("rl", 2)].map { text, seq in
      PartReceipt(
        seq: seq, length: Int64(text.utf8.count), etag: "", digest: Scene.digest(text, .crc32c), confirmation: .digest,
        remote: ["url": "http://h/files/\(seq)", "written": "/files/\(seq)"])
    }
  }

  private func interpret(_ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts) throws -> String {
    text(try TusScene.tus().interpret(reply, to: step, facts, TusScene.context(facts)))
  }

  @Test func whenItIsDone() throws {
    func abilities(
      _ size: Int64, _ extensions: String = "concatenation", _ tus: TusProtocol? = nil,
      change: (inout TransferFacts) -> Void = { $0.isPlanned = false }
    ) throws -> Bool {
      let facts = TusScene.facts(size: size, extensions: extensions, url: nil, change: change)
      return try (tus ?? TusScene.tus { $0.isParallel = true }).abilities(facts).parallelChunks
    }
    let large: Int64 = (64 << 20) + 1
    #expect(try abilities(large))
    #expect(try !abilities(large - 1))
    #expect(try !abilities(large, "creation"))
    #expect(try !abilities(large, "concatenation", TusScene.tus()), "it was not requested")
    #expect(try !abilities(large) { $0.session = SessionFacts(remoteID: nil, intendedAtMs: 0) })
    // The row says how the file is cut, which may be into too many chunks for one request.
    #expect(
      try !abilities(large) {
        $0.layout = ChunkLayout(size: large, chunkSize: 1 << 20)
        $0.isPlanned = true
      })
    #expect(try abilities(large) { $0.layout = ChunkLayout(size: large, chunkSize: 32 << 20) })
  }

  @Test func whatWasJoinedIsEndedWhereThatIsOffered() throws {
    let tus = try TusScene.tus { $0.isParallel = true }
    #expect(!tus.abilities(facts()).leavesUploads)
    #expect(tus.abilities(facts { $0.learned = TusScene.learned("concatenation,termination") }).leavesUploads)
    #expect(!tus.abilities(TusScene.facts(size: 10, extensions: TusScene.everything)).leavesUploads)
  }

  @Test func theWay() throws {
    let tus = try TusScene.tus { $0.isParallel = true }
    let fresh = TusScene.facts(size: 100 << 20, extensions: "concatenation", url: nil) { $0.isPlanned = false }
    #expect(TusScene.say(tus.nextStep(fresh)) == "open concat: [\"mode\": \"concat\"]")
    #expect(TusScene.say(tus.nextStep(facts())) == "chunks")
    #expect(TusScene.say(tus.nextStep(facts { $0.isResumed = true })) == "chunks")
    #expect(TusScene.say(tus.nextStep(facts(stored))) == "finish")
    let joined = facts {
      stored(&$0)
      $0.session?.notes["final"] = "http://h/files/9"
    }
    #expect(TusScene.say(tus.nextStep(joined)) == "verify")
    #expect(tus.abilities(facts()).chunkOpening == ChunkOpening(prepares: true, probesUncertain: true))
    #expect(tus.abilities(facts()).unrepeatable == [.finish])
    #expect(tus.abilities(facts()).queriesChunks)
  }

  /// The uploads of an earlier session of the file are ended by its name.
  @Test func eachSessionHasANameOfItsOwn() throws {
    let tus = try TusScene.tus { $0.isParallel = true }
    func name(atMs wallMs: Int64) -> String? {
      let fresh = TusScene.facts(size: 100 << 20, extensions: "concatenation", url: nil) {
        ($0.isPlanned, $0.wallMs) = (false, wallMs)
      }
      guard case .openSession(let id, _) = tus.nextStep(fresh) else { return nil }
      return id
    }
    #expect(name(atMs: 1) == name(atMs: 1) && name(atMs: 1) != name(atMs: 2) && name(atMs: 1) != nil)
  }

  /// A body that goes with the creation is sent again to a new upload.
  @Test func onlyAnUploadWithAURLIsAskedAbout() throws {
    let tus = try TusScene.tus()
    #expect(tus.abilities(TusScene.facts(size: 10)).queriesChunks)
    #expect(!tus.abilities(TusScene.facts(size: 10, url: nil)).queriesChunks)
  }

  @Test func requests() throws {
    let tus = try TusScene.tus()
    func wire(_ step: StepRequest, _ facts: TransferFacts) throws -> [String] {
      TusScene.wire(try tus.request(step, facts, TusScene.context(facts)))
    }
    let chunk = TusScene.chunk(1, 4..<8, acked: 1, remote: remote)
    #expect(
      try wire(.prepareChunk(chunk), facts()) == [
        "POST http://h/files/", "tus-resumable: 1.0.0", "upload-concat: partial", "upload-length: 4",
      ])
    #expect(try wire(.probeChunk(chunk), facts()).first == "HEAD http://h/files/7")
    let body = try wire(.chunk(chunk), facts())
    #expect(body.first == "PATCH http://h/files/7")
    #expect(body.contains("upload-offset: 1"))
    let last = try wire(.finish, facts(stored))
    #expect(last.contains("upload-concat: final;/files/0 /files/1 /files/2"))
    #expect(last.contains { $0.hasPrefix("upload-metadata: filename ") })
    #expect(!last.contains { $0.hasPrefix("upload-length") })
    #expect(tus.abortTargets(facts(stored)) == ["http://h/files/0", "http://h/files/1", "http://h/files/2"])
    let joined = facts {
      stored(&$0)
      $0.session?.notes["final"] = "http://h/files/1"
    }
    #expect(tus.abortTargets(joined) == ["http://h/files/0", "http://h/files/2"])
  }

  @Test func longUrlsLoseWhatTheyShare() throws {
    let long = "http://h/" + String(repeating: "x", count: 2_990)
    let facts = facts { facts in
      stored(&facts)
      for seq in 0..<3 { facts.parts[seq].remote["written"] = long + "\(seq)" }
    }
    let field = try TusScene.tus().request(.finish, facts, TusScene.context(facts)).fields[.init("upload-concat")!]
    #expect(field?.hasPrefix("final;/xxx") == true)
  }

  @Test func aPartIsMadeOrNot() throws {
    let prepare = StepRequest.prepareChunk(TusScene.chunk(1, 4..<8))
    #expect(
      try interpret(Scene.reply(201, [("Location", "7")]), prepare, facts())
        == #"prepared ["url=http://h/files/7", "written=7"]"#)
    #expect(try interpret(Scene.reply(201), prepare, facts()) == "proto.bad_reply permanent")
    #expect(try interpret(Scene.reply(201, [("Location", "http://x/")]), prepare, facts()) == "http.redirect permanent")
    #expect(try interpret(Scene.reply(501), prepare, facts()).hasSuffix("proto.unsupported sessionGone"))
    #expect(
      try interpret(Scene.reply(400, [], "ERR_CONCATENATION_UNSUPPORTED: x"), prepare, facts())
        .hasSuffix("proto.unsupported sessionGone"))
    #expect(try interpret(Scene.broken(), prepare, facts()) == "net.reset retry(isThrottled: false)")
  }

  @Test(arguments: [
    (200, "0", "proto.offset sessionGone"), (403, "", "chunk has 1"), (405, "", "chunk has 1"),
    (200, "3", "chunk has 3"), (200, "4", "stored 1 size"),
    (200, "5", "proto.offset permanent"),
    (200, "-1", "proto.bad_reply retry(isThrottled: false)"), (404, "", "proto.session_gone sessionGone"),
    (423, "", "http.423 retry(isThrottled: false)"),
  ])
  func probesOfAPart(_ status: Int, _ offset: String, _ expected: String) throws {
    let step = StepRequest.probeChunk(TusScene.chunk(1, 4..<8, acked: 1, remote: remote))
    #expect(try interpret(Scene.reply(status, [("Upload-Offset", offset)]), step, facts()) == expected)
  }

  @Test(arguments: [
    ("4", "stored 1 size"), ("3", "advanced to 3"), ("1", "proto.offset probe"), ("5", "proto.offset permanent"),
  ])
  func bodiesOfAPart(_ offset: String, _ expected: String) throws {
    let step = StepRequest.chunk(TusScene.chunk(1, 4..<8, acked: 1, remote: remote))
    #expect(try interpret(Scene.reply(204, [("Upload-Offset", offset)]), step, facts()) == expected)
  }

  @Test(arguments: [
    (404, "", "http", "sessionGone"), (400, "ERR_UPLOAD_NOT_FINISHED: x", "", "sessionGone"),
    (409, "", "", "retry(isThrottled: false)"),
    (429, "", "", "retry(isThrottled: true)"), (503, "", "", "unknown"), (302, "", "", "unknown"),
    (500, "", "", "unknown"),
    (500, "ERR_LOCK_TIMEOUT: x", "", "retry(isThrottled: false)"), (502, "", "", "unknown"), (504, "", "", "unknown"),
    (403, "", "", "permanent"), (201, "", "", "unknown"), (408, "", "", "unknown"), (600, "", "", "unknown"),
  ])
  func joiningIsNeverRepeatedInDoubt(_ status: Int, _ body: String, _ note: String, _ remedy: String) throws {
    #expect(try interpret(Scene.reply(status, [], body), .finish, facts(stored)).hasSuffix(" " + remedy))
  }

  @Test func lostAndFoundAnswersToJoining() throws {
    #expect(try interpret(Scene.broken(), .finish, facts(stored)) == "proto.lost_answer unknown")
    #expect(
      try interpret(Scene.broken(mayHaveArrived: false), .finish, facts(stored))
        == "net.refused retry(isThrottled: false)")
    #expect(
      try interpret(Scene.reply(201, [("Location", "9")]), .finish, facts(stored))
        == #"noted ["final=http://h/files/9"], settled"#)
  }

  @Test func whatWasJoinedIsLookedAt() throws {
    func look(_ status: Int, _ fields: (String, String)..., polls: String? = nil) throws -> String {
      let facts = facts {
        stored(&$0)
        $0.session?.notes = ["mode": "concat", "final": "http://h/files/9"]
        $0.session?.notes["polls"] = polls
      }
      return try interpret(Scene.reply(status, fields), .verify, facts)
    }
    #expect(try look(200, ("Upload-Length", "10"), ("Upload-Offset", "10")) == "finished size")
    #expect(try look(200, ("Upload-Offset", "10")) == "finished size")
    #expect(try look(200, ("Upload-Length", "9"), ("Upload-Offset", "9")) == "integrity.mismatch permanent")
    #expect(try look(200, ("Upload-Offset", "9")) == "proto.offset retry(isThrottled: false)")
    #expect(try look(200, ("Upload-Length", "10")) == #"noted ["polls=1"], not yet, 1000 ms"#)
    #expect(try look(200, polls: "9") == #"noted ["polls=10"], not yet, 64000 ms"#)
    #expect(try look(200, polls: "30") == "finished none")
    #expect(try look(404) == "finished none")
    #expect(try look(503) == "http.503 retry(isThrottled: true)")
  }
}
