import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// The meaning of answers to the request for published checksums: for the file, and for its host.
@Suite struct BlockAnswersTests {
  private let facts: TransferFacts = {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 100_000, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 100_000))
    facts.session = SessionFacts(remoteID: "x", intendedAtMs: 0, notes: BlockNotes.wanted(nil))
    return facts
  }()

  private func meaning(
    _ reply: TransferReply, _ notes: [String: String] = BlockNotes.wanted(nil), learned: LearnedFacts = LearnedFacts(),
    _ credential: Credential? = nil
  ) throws -> Interpretation {
    var download = DownloadSettings(folder: NameBytes("/in"), overwrites: true)
    download.usesZsync = true
    let proto = try AllProtocols.make(
      BatchSettings(destination: "http://h/", download: download), credentialsRegion: nil)
    var facts = facts
    facts.session?.notes = notes
    let context = RequestContext(wallMs: 0, credential: credential, learned: learned)
    return proto.interpret(reply, to: .probe(marker: BlockNotes.marker), facts, context)
  }

  private func reply(_ status: Int = 0, curl: Int32 = 0, retryAfter: String? = nil) -> TransferReply {
    var reply = TransferReply()
    (reply.status, reply.curlCode, reply.requestMayHaveArrived) = (status, curl, true)
    if let retryAfter { reply.fields[.retryAfter] = retryAfter }
    return reply
  }

  private func isAskedAgain(_ meaning: Interpretation) -> Bool {
    if case .notYet = meaning.outcome { true } else { false }
  }

  /// The time-out of a server that hangs is not waited for twice, for this file or the next.
  @Test func aTimeoutIsWaitedForOnce() throws {
    var stalled = reply(curl: 28)
    stalled.isStalled = true
    for reply in [reply(curl: 28), stalled] {
      let meaning = try meaning(reply)
      #expect(!isAskedAgain(meaning) && meaning.remark?.contains("requests no more .zsync files") == true)
      #expect(meaning.learned?.refusesBlocks == true)
    }
    #expect(try isAskedAgain(meaning(reply(curl: 56))))
    #expect(try !isAskedAgain(meaning(reply(curl: 56), BlockNotes.again)))
  }

  /// The file does without the checksums, but its host did not answer: that counts as for any other request.
  @Test func aLostAnswerIsAFailureOfTheHost() throws {
    for curl: Int32 in [28, 56, 92] {
      for notes in [BlockNotes.wanted(nil), BlockNotes.again] {
        let lost = reply(curl: curl)
        let failure = try #require(lost.transportFailure)
        #expect(try meaning(lost, notes).tolerated == .failure(failure), "\(curl)")
      }
    }
  }

  /// A credential may have expired, so it is obtained again, once. A second refusal is one for all files of the host.
  @Test(arguments: [nil, Credential.bearer(token: "t")]) func credentialsAreObtainedAgainOnce(_ credential: Credential?)
    throws
  {
    let first = try meaning(reply(401), learned: LearnedFacts(), credential)
    if credential != nil {
      guard case .failed(_, .refreshCredential) = first.outcome else {
        Issue.record("the credential is not obtained again")
        return
      }
      #expect(first.notes == BlockNotes.again && first.learned == nil)
    } else {
      #expect(first.notes == BlockNotes.unused && first.learned?.refusesBlocks == true)
    }
    let second = try meaning(reply(401), BlockNotes.again, learned: LearnedFacts(), credential)
    guard case .settled = second.outcome else {
      Issue.record("the request is repeated")
      return
    }
    #expect(second.notes == BlockNotes.unused && second.learned?.refusesBlocks == true && second.tolerated == .answer)
    #expect(second.remark?.contains("401; this run requests no more .zsync files") == true)
  }

  /// Nothing was asked: the file needs a connection, too.
  @Test func withoutAConnectionTheRequestIsRepeatedLikeAnyOther() throws {
    var refused = reply(curl: 7)
    refused.requestMayHaveArrived = false
    for notes in [BlockNotes.wanted(nil), BlockNotes.again] {
      guard case .failed(let failure, .retry) = try meaning(refused, notes).outcome else {
        Issue.record("the request is not repeated")
        return
      }
      #expect(failure.code == .netRefused)
    }
  }

  /// Only 429 and a pause that the server names are about its host.
  @Test func onlyPausesAreAboutTheHost() throws {
    for status in [500, 502, 503, 504, 408, 403, 404] {
      #expect(try meaning(reply(status)).tolerated == .answer, "\(status)")
    }
    for (status, after, ms) in [(429, "7", 7_000), (503, "3600", 3_600_000), (529, "61", 61_000)]
      as [(Int, String, Int64)]
    {
      for notes in [BlockNotes.wanted(nil), BlockNotes.again] {
        guard
          case .failure(let failure, isThrottled: true)? = try meaning(reply(status, retryAfter: after), notes)
            .tolerated
        else {
          Issue.record("\(status) is not kept")
          continue
        }
        #expect(failure.retryAfterMs == ms)
      }
    }
    // Not a pause, and longer than a file waits.
    #expect(try !isAskedAgain(meaning(reply(500, retryAfter: "61"))))
    #expect(try isAskedAgain(meaning(reply(500, retryAfter: "60"))))
  }

  @Test func refusalsInARowEndTheRequests() throws {
    var learned = LearnedFacts()
    for n in 1...8 {
      let meaning = try meaning(reply(404), learned: learned)
      learned = try #require(meaning.learned)
      #expect(learned.refusesBlocks == (n == 8) && meaning.remark?.contains("requests no more") == (n == 8))
    }
    learned.blockRefusals = 7
    var sent = reply(200)
    sent.body = Array("no table".utf8)
    #expect(try meaning(sent, learned: learned).learned?.blockRefusals == 0)
  }

  /// A header with a length, and that many bytes: what comes behind them does not matter.
  @Test func aCompleteFirstAnswerCountsWhateverEndsIt() throws {
    let proto = try AllProtocols.make(
      BatchSettings(destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in"))),
      credentialsRegion: nil)
    var reply = reply(200, curl: 92)
    (reply.bytesReceived, reply.fields[.contentLength]) = (500, "500")
    var facts = facts
    (facts.session, facts.file.size) = (nil, 0)
    let context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
    guard case .begun(let beginning) = proto.interpret(reply, to: .create, facts, context).outcome else {
      Issue.record("the answer is not kept")
      return
    }
    #expect(beginning.received == 500)
    reply.bytesReceived = 499
    guard case .failed = proto.interpret(reply, to: .create, facts, context).outcome else {
      Issue.record("an incomplete answer counts")
      return
    }
  }
}
