import TransferModel
import Testing

@testable import TransferProtocols

/// 206, 207, 208 and 226 answer other kinds of requests: they do not confirm that a body is stored.
@Suite struct AnotherKindOfAnswerTests {
  private static let statuses = [206, 207, 208, 226]

  private func interpret(_ destination: String, _ status: Int, _ fields: [(String, String)] = []) throws -> String {
    var settings = BatchSettings(destination: destination)
    settings.accepts202 = true
    settings.acceptsHTML = true
    let proto = try AllProtocols.make(settings, credentialsRegion: nil)
    var facts = Scene.facts(key: "k")
    facts.isPlanned = true
    facts.session = destination.hasPrefix("resumable") ? SessionFacts(remoteID: nil, intendedAtMs: 0) : nil
    facts.learned.discovered = ["tried": "8"]
    var context = Scene.context(nil)
    context.learned = facts.learned
    let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc32c))
    return text(proto.interpret(Scene.reply(status, fields), to: chunk, facts, context))
  }

  private static let whole = [
    "http://h/in/", "dav+http://h/in/", "resumable+http://h/in/", "post+http://h/u", "form+http://h/u",
  ]

  @Test(arguments: statuses) func aWholeBodyIsNotStored(_ status: Int) throws {
    for place in Self.whole { #expect(try interpret(place, status) == "proto.lost_answer unknown", "\(place)") }
    let complete = [("Upload-Complete", "?1")]
    #expect(try interpret("resumable+http://h/in/", status, complete) == "proto.lost_answer unknown")
  }

  @Test(arguments: [200, 201, 202, 204]) func successesOfUploadsAreStored(_ status: Int) throws {
    for place in Self.whole { #expect(try interpret(place, status) == "stored 0 none whole none", "\(place)") }
  }

  /// An intermediary changed the answer (203), a form is to be cleared (205), or nobody knows what the status means.
  @Test(arguments: [203, 205, 209, 250, 299]) func otherSuccessesDoNotSayThatABodyIsStored(_ status: Int) throws {
    for place in Self.whole { #expect(try interpret(place, status) == "proto.lost_answer unknown", "\(place)") }
  }

  @Test(arguments: statuses + [202]) func s3IsAskedWhatItHas(_ status: Int) throws {
    let s3 = try Scene.s3()
    let reply = Scene.reply(status, [("ETag", "\"5d41402abc4b2a76b9719d911017c592\"")])
    let whole = s3.interpret(reply, to: .chunk(Scene.chunk()), Scene.facts(), Scene.context())
    #expect(text(whole) == "proto.bad_reply probe")
    let parts = Scene.facts(size: 10, parts: 2, session: "U")
    var sent = reply
    sent.bytesSent = 5
    let part = s3.interpret(sent, to: .chunk(Scene.chunk(0, "hello", .md5)), parts, Scene.context())
    #expect(text(part) == "doubted [\"md5\"], proto.bad_reply probe")
    for step in [StepRequest.create, .finish] {
      let meaning = s3.interpret(reply, to: step, Scene.stored(), Scene.context())
      #expect(text(meaning) == "proto.bad_reply probe", "\(step)")
    }
  }

  @Test(arguments: statuses) func theOffsetIsAskedFor(_ status: Int) throws {
    let offset = [("Upload-Offset", "5")]
    let tus = TusScene.facts(size: 5)
    let patch = try TusScene.tus().interpret(
      Scene.reply(status, offset), to: .chunk(TusScene.chunk(0, 0..<5)), tus, TusScene.context(tus))
    #expect(text(patch) == "proto.bad_reply probe")
    let resumable = ResumableScene.facts(size: 10, chunk: 5)
    var context = Scene.context(nil)
    context.learned = resumable.learned
    let append = try ResumableScene.proto().interpret(
      Scene.reply(status, offset), to: .chunk(Scene.chunk()), resumable, context)
    #expect(text(append) == "proto.bad_reply probe")
    let dav = DavPatchScene.facts()
    let part = try DavPatchScene.davPatch().interpret(
      Scene.reply(status), to: .chunk(DavPatchScene.chunk(0, 0..<6)), dav, DavPatchScene.context(dav))
    #expect(text(part) == "proto.bad_reply probe")
  }

  @Test(arguments: statuses) func anUploadIsNotEndedOrAborted(_ status: Int) throws {
    let reply = Scene.reply(status)
    for destination in ["tus+http://h/up", "resumable+http://h/in/", "davpatch+http://h/in/"] {
      let proto = try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil)
      let facts = Scene.facts(session: "http://h/up/1")
      let abort = proto.interpret(reply, to: .abort(remoteID: "http://h/up/1"), facts, Scene.context(nil))
      #expect(text(abort).hasPrefix("proto.bad_reply"), "\(destination)")
      guard !destination.hasPrefix("davpatch") else { continue }
      let end = text(proto.interpret(reply, to: .finish, facts, Scene.context(nil)))
      #expect(end.contains("proto.bad_reply") || end.contains("proto.lost_answer"), "\(destination): \(end)")
    }
    let s3 = try Scene.s3()
    #expect(
      text(s3.interpret(reply, to: .abort(remoteID: "U"), Scene.stored(), Scene.context())).hasPrefix("proto.bad_reply")
    )
  }

  @Test(arguments: statuses) func aProfileHasToNameThem(_ status: Int) throws {
    let post = "chunk: {mode: single, idempotent: false}\nsteps: {chunk: {method: POST, url: /x, body: {kind: raw}}}"
    let end = try ProfileDriver.of(post, 4).run([.on("POST https://h.example/api/x", status)])
    #expect(end.unknown?.code == .protoLostAnswer, "\(end)")
    let put = """
      chunk: {mode: single}
      steps: {chunk: {method: PUT, url: /x, body: {kind: raw}, success: {status: [\(status)]}}}
      """
    #expect(try ProfileDriver.of(put, 4).run([.on("PUT https://h.example/api/x", status)]).isDone())
  }
}
