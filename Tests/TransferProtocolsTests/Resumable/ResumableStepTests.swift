import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// The next step, and the requests for it.
@Suite struct ResumableStepTests {
  typealias R = ResumableScene

  private func step(_ facts: TransferFacts, _ proto: ResumableProtocol? = nil) throws -> String {
    TusScene.say(try (proto ?? R.proto()).nextStep(facts))
  }

  private func wire(_ step: StepRequest, _ facts: TransferFacts, _ proto: ResumableProtocol? = nil) throws -> [String] {
    TusScene.wire(try (proto ?? R.proto()).request(step, facts, TusScene.context(facts)))
  }

  @Test func theNewestVersionIsAskedForFirst() throws {
    let unasked = R.facts(size: 5, url: nil, discovered: nil)
    #expect(try step(unasked) == "discover")
    #expect(try wire(.discover, unasked) == ["OPTIONS http://h/in/a%20b", "upload-draft-interop-version: 9"])
    let second = R.facts(size: 5, url: nil, discovered: ["tried": "9"])
    #expect(try step(second) == "discover")
    #expect(try wire(.discover, second).contains("upload-draft-interop-version: 8"))
    #expect(try step(R.facts(size: 5, url: nil, discovered: R.plain)) == "chunk that opens")
    // Versions that announce nothing are used without discovery.
    for old in ["3", "5"] { #expect(try step(unasked, R.proto { $0.interop = old }) == "chunk that opens") }
    #expect(try wire(.discover, unasked, R.proto { $0.interop = "final" }) == ["OPTIONS http://h/in/a%20b"])
  }

  @Test func howAnUploadIsMade() throws {
    func first(_ size: Int64, _ discovered: [String: String] = ["speaks": "9"], post: Bool = false) throws -> String {
      let proto = try R.proto { $0.method = post ? "post" : nil }
      return try step(R.facts(size: size, url: nil, discovered: discovered) { $0.isPlanned = false }, proto)
    }
    #expect(try first(5) == "chunk that opens")
    #expect(try first(8 << 20) == "chunk that opens")
    #expect(try first((8 << 20) + 1) == "create")
    #expect(try first(5, ["speaks": "9", "max-append-size": "4"]) == "create")
    #expect(try first(5, ["speaks": "9", "min-size": "6"]) == "chunk that opens")
    #expect(try first(5, ["speaks": "9", "max-size": "4"]) == "fail policy.limit")
    // An upload with one byte in each request would take millions of them.
    #expect(try first(9 << 20, ["speaks": "9", "max-append-size": "1"]) == "fail policy.limit")
    #expect(try first(9 << 20, ["speaks": "9", "max-append-size": "0"]) == "fail policy.limit")
    #expect(try first((64 << 10) - 64, ["speaks": "9", "max-append-size": "1023"]) == "create")
    #expect(try first((64 << 10) - 63, ["speaks": "9", "max-append-size": "1023"]) == "fail policy.limit")
    #expect(try first(9 << 20, ["speaks": "9", "max-append-size": "16384"]) == "create")
    #expect(try first(0) == "chunk that opens")
    // A POST that is repeated may create two objects.
    #expect(try first(5, post: true) == "create")
    #expect(try first(5, R.plain, post: true) == "chunk that opens")
    #expect(try first(1 << 40, R.plain) == "chunk that opens")
  }

  @Test func whatMustNotBeRepeated() throws {
    let post = try R.proto { $0.method = "post" }
    #expect(!post.abilities(R.fresh(size: 5, discovered: R.plain)).repeatable)
    #expect(post.abilities(R.facts(size: 5, discovered: R.plain)).repeatable)
    #expect(post.abilities(R.fresh(size: 5)).repeatable)
    #expect(try R.proto().abilities(R.fresh(size: 5, discovered: R.plain)).repeatable)
    #expect(try !R.proto().abilities(R.fresh(size: 5, discovered: R.plain)).queriesChunks, "it has no URL yet")
    #expect(post.abilities(R.facts(size: 5, discovered: R.plain)).queriesChunks)
  }

  /// A request that completes the object must contain all of it.
  @Test func aChunkOfManyNeverMakesTheObject() throws {
    let cut = R.facts(size: 10, chunk: 4, url: nil, discovered: R.plain)
    #expect(try step(cut) == "fail proto.unsupported")
    #expect(try step(R.facts(size: 10, chunk: 4, url: nil)) == "create")
    #expect(try step(R.facts(size: 10, chunk: 4, discovered: R.plain)) == "chunks")
  }

  @Test func requestsThatMakeUploads() throws {
    #expect(
      try wire(.create, R.fresh(size: R.large)) == [
        "PUT http://h/in/a%20b", "content-type: application/octet-stream", "upload-complete: ?0",
        "upload-draft-interop-version: 9", "upload-length: \(R.large)",
      ])
    #expect(
      try wire(.chunk(TusScene.chunk(0, 0..<5)), R.fresh(size: 5), R.proto(ifNoneMatch: true)) == [
        "PUT http://h/in/a%20b", "content-type: application/octet-stream", "if-none-match: *", "incremental: ?1",
        "upload-complete: ?1", "upload-draft-interop-version: 9", "upload-length: 5", "want-repr-digest: crc32c=10",
      ])
    let post = try R.proto { $0.method = "post" }
    let request = try post.request(
      .chunk(TusScene.chunk(0, 0..<5)), R.fresh(size: 5, discovered: R.plain),
      TusScene.context(R.fresh(size: 5, discovered: R.plain)))
    #expect(request.method == .post)
  }

  @Test(arguments: [
    ("9", "upload-complete: ?0", true), ("8", "upload-complete: ?0", true), ("6", "upload-complete: ?0", true),
    ("5", "upload-complete: ?0", false), ("3", "upload-incomplete: ?1", false),
  ])
  func versionsOnTheWire(_ version: String, _ incomplete: String, _ hasType: Bool) throws {
    let proto = try R.proto { $0.interop = version }
    let facts = R.facts(
      size: 10, chunk: 4, discovered: Interop(rawValue: version)!.isDiscovered ? ["speaks": version] : nil)
    let append = try wire(.chunk(TusScene.chunk(1, 4..<8, acked: 1)), facts, proto)
    #expect(append.first == "PATCH http://h/up/1")
    #expect(append.contains(incomplete))
    #expect(append.contains("upload-offset: 5"))
    #expect(append.contains("upload-draft-interop-version: \(version)"))
    #expect(append.contains("content-type: application/partial-upload") == hasType)
    let last = try wire(.chunk(TusScene.chunk(2, 8..<10)), facts, proto)
    #expect(last.contains(version == "3" ? "upload-incomplete: ?0" : "upload-complete: ?1"))
    #expect(last.contains("want-repr-digest: crc32c=10"))
  }

  @Test func theFinalVersionHasNoNumber() throws {
    let facts = R.facts(size: 10, chunk: 4, discovered: ["speaks": "final"])
    let lines = try wire(.probe(marker: nil), facts, R.proto { $0.interop = "final" })
    #expect(lines == ["HEAD http://h/up/1"])
  }

  @Test func digestsWhenTheyAreWanted() throws {
    let proto = try R.proto { $0.digest = "sha-256" }
    #expect(proto.digestsAhead(LearnedFacts(), ChunkLayout(whole: 5)) == [.sha256])
    #expect(try R.proto().digestsAhead(LearnedFacts(), ChunkLayout(whole: 5)).isEmpty)
    let facts = R.facts(size: 10, chunk: 4)
    var chunk = TusScene.chunk(1, 4..<8)
    chunk.digests[.sha256] = Scene.digest("hello", .sha256)
    let sum = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"
    #expect(try wire(.chunk(chunk), facts, proto).contains("content-digest: \(sum)"))
    #expect(try wire(.chunk(chunk), R.fresh(size: 4), proto).contains("repr-digest: \(sum)"))
    var context = TusScene.context(facts)
    context.fileDigests[.sha256] = Scene.digest("hello", .sha256)
    let create = try proto.request(.create, R.fresh(size: 10), context)
    #expect(create.fields[.init("repr-digest")!] == sum)
    #expect(proto.fileDigests(for: .create, facts) == [.sha256])
    #expect(proto.fileDigests(for: .chunk(chunk), facts).isEmpty)
    #expect(proto.fileDigests(for: .chunk(TusScene.chunk(2, 8..<10)), facts) == [.sha256])
  }

  @Test func theWayOn() throws {
    #expect(try step(R.facts(size: 10, chunk: 4)) == "chunks")
    #expect(try step(R.facts(size: 10, chunk: 4) { $0.isResumed = true }) == "probe")
    #expect(try step(R.facts(size: 10, chunk: 4) { $0.lostAnswer = .part }) == "probe")
    #expect(
      try step(
        R.facts(size: 10, chunk: 4) {
          $0.isResumed = true
          $0.isProbed = true
        }) == "chunks")
    #expect(
      try step(R.facts(size: 10) { $0.session?.notes["expires"] = "\(Scene.wallMs)" }) == "drop proto.session_gone")
    #expect(try step(R.facts(size: 10) { $0.session?.expiresAtMs = Scene.wallMs + 1 }) == "chunks")
  }

  /// Having all bytes stored is not the same as having ended the upload.
  @Test func theEnd() throws {
    func all(_ remote: [String: String] = [:], _ change: (inout TransferFacts) -> Void = { _ in }) -> TransferFacts {
      R.facts(size: 11, chunk: 6) { facts in
        facts.storedChunks = facts.layout.count
        facts.parts = [("hello ", 0), ("world", 1)].map { text, seq in
          PartReceipt(
            seq: seq, length: Int64(text.utf8.count), etag: "", digest: Scene.digest(text, .crc32c),
            confirmation: .size,
            remote: seq == 1 ? remote : [:])
        }
        change(&facts)
      }
    }
    #expect(try step(all()) == "finish")
    #expect(try step(all([:]) { $0.isResumed = true }) == "probe")
    #expect(try step(all(["complete": "201"])) == "complete size")
    #expect(try step(all(["complete": "201"]) { $0.isResumed = true }) == "complete size")
    let right = Scene.digest("hello world", .crc32c).description
    #expect(try step(all(["complete": "201", "crc32c": right])) == "complete digest")
    let wrong = Scene.digest("hello", .crc32c).description
    #expect(try step(all(["complete": "201", "crc32c": wrong])) == "drop integrity.mismatch")
    #expect(
      try step(all(["complete": "201", "crc32c": wrong]), R.proto { $0.method = "post" }) == "fail integrity.mismatch")
    let finish = try wire(.finish, all())
    #expect(finish.contains("upload-offset: 11"))
    #expect(finish.contains("upload-complete: ?1"))
  }

  // MARK: - Sizes

  @Test func chunksAreWhatTheServerTakes() throws {
    func layout(_ size: Int64, _ discovered: [String: String]) throws -> ChunkLayout {
      try R.proto().layout(R.facts(size: size, url: nil, discovered: discovered) { $0.isPlanned = false })
    }
    #expect(try layout(1 << 40, R.plain).count == 1)
    #expect(try layout(200 << 20, ["speaks": "9"]).chunkSize == 64 << 20)
    #expect(try layout(200 << 20, ["speaks": "9", "max-append-size": "1048576"]).chunkSize == 1 << 20)
    #expect(try layout(200 << 20, ["speaks": "9", "max-append-size": "5"]).count == 1)
    #expect(try layout(200 << 20, ["speaks": "9", "min-append-size": "5"]).count == 1)
  }

  /// The limit may come with the answer that creates the upload, or with a refusal of a body.
  @Test func anUploadWithALimitOfAFewBytesIsNotGoneOnWith() throws {
    let limited = R.facts(size: 9 << 20) { $0.session?.notes = ["max-append": "1"] }
    #expect(try step(limited) == "fail policy.limit")
    #expect(try step(R.facts(size: 9 << 20) { $0.session?.notes = ["max-append": "1048576"] }) == "chunks")
    #expect(try step(R.facts(size: 5) { $0.session?.notes = ["max-append": "1"] }) == "chunks")
  }

  @Test func bodiesAreWhatTheServerTakes() throws {
    let proto = try R.proto(partSize: 1 << 20)
    let chunk = TusScene.chunk(0, 0..<(4 << 20), acked: 1 << 20)
    func length(_ discovered: [String: String], _ notes: [String: String] = [:]) -> Int64 {
      proto.bodyRange(of: chunk, R.facts(size: 4 << 20, discovered: discovered) { $0.session?.notes = notes }).length
    }
    #expect(length(["speaks": "9"]) == 1 << 20)
    #expect(length(["speaks": "9", "max-append-size": "1000"]) == 1000)
    #expect(length(["speaks": "9", "max-append-size": "1000"], ["max-append": "2000"]) == 2000)
    #expect(length(["speaks": "9", "min-append-size": "2097152"]) == 2 << 20)
    #expect(length(["speaks": "9"], ["body": "500"]) == 500)
    #expect(length(R.plain) == 3 << 20)
    // The request that creates the upload sends the whole file.
    #expect(proto.bodyRange(of: TusScene.chunk(0, 0..<100), R.fresh(size: 100)).length == 100)
  }

  @Test(
    arguments: [
      ["interop": "7"], ["interop": ""], ["method": "patch"], ["digest": "md5"],
      ["parallel": true], ["method-override": true], ["field": ["a=b"]],
    ] as [[String: OptionValue]])
  func whatIsRefused(_ options: [String: OptionValue]) {
    #expect(throws: TransferError.self) {
      let settings = BatchSettings(destination: "resumable+http://h/", options: options)
      try AllProtocols.refuseUnsupportedOptions(settings)
      _ = try AllProtocols.make(settings, credentialsRegion: nil)
    }
  }
}
