import Testing
import TransferModel

@testable import TransferProtocols

/// Answers that look like a success but prove nothing, and refusals that may hide a success.
@Suite struct UnprovedAnswerTests {
  private static let page = ("Content-Type", "text/html; charset=utf-8")

  private func interpret(
    _ destination: String, _ reply: TransferReply, key: String = "k", change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> String {
    var settings = BatchSettings(destination: destination)
    change(&settings)
    let proto = try AllProtocols.make(settings, credentialsRegion: nil)
    var facts = Scene.facts(key: key)
    facts.isPlanned = true
    facts.session = destination.hasPrefix("resumable") ? SessionFacts(remoteID: nil, intendedAtMs: 0) : nil
    facts.learned.discovered = ["tried": "8"]
    var context = Scene.context(nil)
    context.learned = facts.learned
    return text(proto.interpret(reply, to: .chunk(Scene.chunk(0, "hello", .crc32c)), facts, context))
  }

  private static let putting = ["http://h/in/", "dav+http://h/in/", "resumable+http://h/in/"]
  private static let posting = ["post+http://h/u", "form+http://h/u"]

  private static func early(_ status: Int, _ fields: [(String, String)] = []) -> TransferReply {
    var reply = Scene.reply(status, fields)
    reply.isBodyIncomplete = true
    return reply
  }

  @Test(arguments: [200, 201, 204, 202]) func aSuccessBeforeTheWholeBodyIsALostAnswer(_ status: Int) throws {
    for place in Self.putting {
      #expect(try interpret(place, Self.early(status)) == "proto.bad_reply retry(isThrottled: false)", "\(place)")
    }
    for place in Self.posting + ["resumable+http://h/in/"] {
      let meaning = try interpret(place, Self.early(status)) { $0.method = place.hasPrefix("resumable") ? "post" : nil }
      #expect(meaning == "proto.lost_answer unknown", "\(place)")
    }
    // A refusal is interpreted as usual.
    #expect(try interpret("http://h/in/", Self.early(413)) == "http.413 permanent")
  }

  @Test func anAnswerOfResumableUploadsThatCameEarlyIsAskedAbout() throws {
    let complete = [("Upload-Complete", "?1"), ("Location", "/u/1")]
    #expect(
      try interpret("resumable+http://h/in/", Self.early(201, complete)) == "proto.bad_reply retry(isThrottled: false)")
  }

  @Test func s3AndTusAreToldTheSame() throws {
    let s3 = try Scene.s3()
    let etag = [("ETag", "\"5d41402abc4b2a76b9719d911017c592\"")]
    let meaning = s3.interpret(Self.early(200, etag), to: .chunk(Scene.chunk()), Scene.facts(), Scene.context())
    #expect(text(meaning) == "proto.bad_reply retry(isThrottled: false)")
    let facts = TusScene.facts(size: 5)
    let patch = try TusScene.tus().interpret(
      Self.early(204, [("Upload-Offset", "5")]), to: .chunk(TusScene.chunk(0, 0..<5)), facts, TusScene.context(facts))
    #expect(text(patch) == "proto.bad_reply retry(isThrottled: false)")
  }

  @Test func aPageIsNoProofThatAPutWasStored() throws {
    for place in Self.putting {
      #expect(try interpret(place, Scene.reply(200, [Self.page])) == "proto.bad_reply permanent", "\(place)")
      #expect(
        try interpret(place, Scene.reply(200, [Self.page])) { $0.acceptsHTML = true } == "stored 0 none whole none")
      // Apache answers 201 with a page.
      #expect(try interpret(place, Scene.reply(201, [Self.page])) == "stored 0 none whole none", "\(place)")
      // The upload of a page may be answered with a page.
      #expect(
        try interpret(place, Scene.reply(200, [Self.page]), key: "a.html") { $0.contentType = "auto" }
          == "stored 0 none whole none")
    }
    // Programs that accept a form or a POST usually answer with a page.
    for place in Self.posting {
      #expect(try interpret(place, Scene.reply(200, [Self.page])) == "stored 0 none whole none")
    }
  }

  @Test func acceptedIsNotStored() throws {
    for place in Self.putting + Self.posting {
      #expect(try interpret(place, Scene.reply(202)) == "proto.lost_answer unknown", "\(place)")
      #expect(try interpret(place, Scene.reply(202)) { $0.accepts202 = true } == "stored 0 none whole none", "\(place)")
    }
  }

  /// A gateway may answer 503 after delivery, and 301, 302 and 303 are usual after an accepted form.
  @Test(arguments: [301, 302, 303, 500, 502, 503, 504, 529]) func whatMayHideASuccess(_ status: Int) throws {
    for place in Self.posting {
      #expect(try interpret(place, Scene.reply(status)).hasSuffix(" unknown"), "\(place)")
    }
    for place in Self.putting { #expect(try !interpret(place, Scene.reply(status)).hasSuffix(" unknown"), "\(place)") }
  }

  @Test func whatHidesNone() throws {
    for place in Self.posting {
      #expect(try interpret(place, Scene.reply(503, [("Retry-After", "0")])) == "http.503 retry(isThrottled: true)")
      #expect(try interpret(place, Self.early(503)) == "http.503 retry(isThrottled: true)")
      #expect(try interpret(place, Scene.reply(429)) == "http.429 retry(isThrottled: true)")
      #expect(try interpret(place, Scene.reply(307)) == "http.redirect permanent")
      #expect(try interpret(place, Self.early(302)) == "http.redirect permanent")
      #expect(try interpret(place, Self.early(408)) == "http.4xx retry(isThrottled: false)")
      #expect(try interpret(place, Scene.reply(425)) == "http.4xx retry(isThrottled: false)")
    }
  }

  /// 408 after the whole body, and a status outside the five classes, which says nothing (RFC 9110 section 15).
  @Test func aPostIsNotRepeatedAfterAnAnswerThatSaysNothingOfIt() throws {
    for place in Self.posting {
      #expect(try interpret(place, Scene.reply(408)) == "http.4xx unknown", "\(place)")
      for status in [600, 999] {
        #expect(try interpret(place, Scene.reply(status)) == "proto.bad_reply unknown", "\(place)")
        #expect(try interpret(place, Self.early(status)) == "proto.bad_reply unknown", "\(place)")
      }
    }
    for place in Self.putting {
      #expect(try interpret(place, Scene.reply(408)) == "http.4xx retry(isThrottled: false)", "\(place)")
      #expect(try interpret(place, Scene.reply(600)) == "proto.bad_reply permanent", "\(place)")
    }
  }

  @Test func aPostWithoutAByteOfItsBodyHadNoEffect() throws {
    var reply = Self.early(0)
    for place in Self.posting {
      reply.bytesSent = 0
      #expect(try interpret(place, reply) == "proto.bad_reply retry(isThrottled: false)", "\(place)")
      reply.bytesSent = 1
      #expect(try interpret(place, reply) == "proto.lost_answer unknown", "\(place)")
    }
  }

  // MARK: - Bounds

  @Test func anOverlongFieldIsNeverCutAndUsed() throws {
    let long = String(repeating: "x", count: 1_100)
    for place in Self.putting {
      let meaning = try interpret(place, Scene.reply(200, [("ETag", "\"\(long)\"")]))
      #expect(meaning == "proto.bad_reply retry(isThrottled: false)", "\(place)")
    }
    for place in Self.posting {
      #expect(
        try interpret(place, Scene.reply(200, [("ETag", "\"\(long)\"")])) == "proto.lost_answer unknown", "\(place)")
    }
    let s3 = try Scene.s3()
    for field in ["ETag", "x-amz-version-id", "Date", "Last-Modified"] {
      let reply = Scene.reply(200, [("ETag", "\"e\""), (field, "\"\(long)\"")])
      let meaning = s3.interpret(reply, to: .chunk(Scene.chunk()), Scene.facts(), Scene.context())
      #expect(text(meaning) == "proto.bad_reply retry(isThrottled: false)", "\(field)")
      #expect(failure(meaning)?.message.contains("bytes") == true)
    }
    let upload = "<InitiateMultipartUploadResult><UploadId>\(long)\(long)</UploadId></InitiateMultipartUploadResult>"
    let created = s3.interpret(Scene.reply(200, [], upload), to: .create, Scene.facts(parts: 2), Scene.context())
    #expect(text(created) == "proto.bad_reply probe")
    let complete = "<CompleteMultipartUploadResult><ETag>\(long)</ETag></CompleteMultipartUploadResult>"
    #expect(
      text(s3.interpret(Scene.reply(200, [], complete), to: .finish, Scene.stored(), Scene.context()))
        == "proto.bad_reply probe")
    #expect(Scene.reply(200, [("x-request-id", String(repeating: "r", count: 200))]).serverRequestID == "")
  }
}
