import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// The next step, and the requests for it.
@Suite struct TusStepTests {
  private func step(_ facts: TransferFacts, _ tus: TusProtocol? = nil) throws -> String {
    TusScene.say(try (tus ?? TusScene.tus()).nextStep(facts))
  }

  private func wire(_ step: StepRequest, _ facts: TransferFacts, _ tus: TusProtocol? = nil) throws -> [String] {
    TusScene.wire(try (tus ?? TusScene.tus()).request(step, facts, TusScene.context(facts)))
  }

  @Test func theServerIsAskedOnceWhatItCan() throws {
    #expect(try step(TusScene.facts(size: 5, url: nil) { $0.learned = LearnedFacts() }) == "discover")
    #expect(try wire(.discover, TusScene.facts(size: 5)) == ["OPTIONS http://h/files/"])
  }

  @Test func aNewUpload() throws {
    let facts = TusScene.facts(size: 5, url: nil) { $0.isPlanned = false }
    #expect(try step(facts) == "create")
    #expect(
      try wire(.create, facts) == [
        "POST http://h/files/", "tus-resumable: 1.0.0", "upload-length: 5",
        "upload-metadata: filename \(base64(Array("in/a b.pdf".utf8))),filetype \(base64(Array("application/pdf".utf8))),"
          + "transfers-uid \(base64(Array(Scene.uid.description.utf8)))",
      ])
    #expect(try step(TusScene.facts(size: 5)) == "chunks")
  }

  /// Never the last byte: a lost answer must not leave a whole object behind.
  @Test func aShortFirstBodyGoesWithTheCreation() throws {
    let mebibyte: Int64 = 1 << 20
    let able = "creation,creation-with-upload"
    func first(_ size: Int64, part: Int64, _ extensions: String = able, _ checksums: String = "") throws -> String {
      let facts = TusScene.facts(size: size, extensions: extensions, checksums: checksums, url: nil) {
        $0.isPlanned = false
      }
      return try step(facts, TusScene.tus(partSize: part))
    }
    #expect(try first(mebibyte + 1, part: mebibyte) == "chunk that opens")
    #expect(try first(9 * mebibyte, part: 8 * mebibyte) == "chunk that opens")
    #expect(try first(20 * mebibyte, part: 9 * mebibyte) == "create")
    #expect(try first(mebibyte, part: mebibyte) == "create")
    #expect(try first(0, part: mebibyte) == "create")
    #expect(try first(2 * mebibyte, part: mebibyte, "creation") == "create")
    #expect(try first(2 * mebibyte, part: mebibyte, able + ",checksum", "sha1") == "create")
    #expect(try step(TusScene.facts(size: 8, chunk: 4, extensions: able, url: nil)) == "chunk that opens")
    #expect(try step(TusScene.facts(size: 8, extensions: able, url: nil)) == "create")
    let request = try wire(.chunk(TusScene.chunk(0, 0..<5)), TusScene.facts(size: 5, extensions: able, url: nil))
    #expect(request.first == "POST http://h/files/")
    #expect(request.contains("content-type: application/offset+octet-stream"))
    #expect(request.contains("upload-length: 5"))
    #expect(!request.contains { $0.hasPrefix("upload-offset") })
  }

  @Test func bodies() throws {
    let facts = TusScene.facts(size: 10, chunk: 4)
    #expect(
      try wire(.chunk(TusScene.chunk(1, 4..<8, acked: 1)), facts) == [
        "PATCH http://h/files/1", "content-type: application/offset+octet-stream", "tus-resumable: 1.0.0",
        "upload-offset: 5",
      ])
    let hidden = try TusScene.tus { $0.overridesMethod = true }
    let request = try wire(.chunk(TusScene.chunk(0, 0..<4)), facts, hidden)
    #expect(request.first == "POST http://h/files/1")
    #expect(request.contains("x-http-method-override: PATCH"))
    #expect(try wire(.abort(remoteID: "http://h/files/1"), facts, hidden).contains("x-http-method-override: DELETE"))
    #expect(try wire(.probe(marker: nil), facts, hidden).first == "HEAD http://h/files/1")
  }

  @Test func checksumsThatTheServerKnows() throws {
    func names(_ announced: String, _ digest: String? = nil, _ extensions: String = "checksum") throws -> String? {
      try TusScene.tus { $0.digest = digest }.checksum(TusScene.learned(extensions, announced))?.name
    }
    #expect(try names("md5,crc32,sha1") == "sha1")
    #expect(try names("sha1,sha256") == "sha256")
    #expect(try names("sha1,sha256", "md5") == nil)
    #expect(try names("sha1,md5", "md5") == "md5")
    #expect(try names("sha1", "none") == nil)
    #expect(try names("sha1", nil, "creation") == nil)
    var chunk = TusScene.chunk(0, 0..<5)
    chunk.digests[.sha1] = Scene.digest("hello", .sha1)
    let facts = TusScene.facts(size: 5, extensions: "checksum", checksums: "sha1")
    #expect(try wire(.chunk(chunk), facts).contains("upload-checksum: sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00="))
    #expect(throws: TransferError.self) { try TusScene.tus { $0.digest = "crc7" } }
  }

  @Test func aResumedUploadIsAskedForFirst() throws {
    #expect(try step(TusScene.facts(size: 5) { $0.isResumed = true }) == "probe")
    #expect(try step(TusScene.facts(size: 5) { $0.lostAnswer = .part }) == "probe")
    #expect(
      try step(
        TusScene.facts(size: 5) {
          $0.isResumed = true
          $0.isProbed = true
        }) == "chunks")
    // Nothing can have been sent before the file had a layout.
    #expect(
      try step(
        TusScene.facts(size: 5) {
          $0.isResumed = true
          $0.isPlanned = false
        }) == "chunks")
    #expect(
      try wire(.probe(marker: nil), TusScene.facts(size: 5)) == ["HEAD http://h/files/1", "tus-resumable: 1.0.0"])
  }

  @Test func anExpiredUploadIsDropped() throws {
    #expect(try step(TusScene.facts(size: 5) { $0.session?.expiresAtMs = Scene.wallMs }) == "drop proto.session_gone")
    #expect(try step(TusScene.facts(size: 5) { $0.session?.expiresAtMs = Scene.wallMs + 1 }) == "chunks")
    // The later statement of the server counts.
    #expect(
      try step(
        TusScene.facts(size: 5) {
          $0.session?.expiresAtMs = Scene.wallMs
          $0.session?.notes = ["expires": "\(Scene.wallMs + 1)"]
        }) == "chunks")
  }

  @Test func theEnd() throws {
    let facts = TusScene.facts(size: 11, chunk: 6) { facts in
      facts.storedChunks = facts.layout.count
      facts.parts = [("hello ", 0), ("world", 1)].map { text, seq in
        PartReceipt(
          seq: seq, length: Int64(text.utf8.count), etag: "", digest: Scene.digest(text, .crc32c), confirmation: .digest
        )
      }
    }
    guard case .complete(let proof) = try TusScene.tus().nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.confirmation == .digest)
    #expect(proof.digest == Scene.digest("hello world", .crc32c))
    var asked = facts
    asked.parts[0].digest = nil
    asked.parts[0].confirmation = .size
    #expect(try step(asked) == "complete size")
  }

  @Test func limitsOfTheServer() throws {
    func first(_ learned: LearnedFacts) throws -> String {
      try step(TusScene.facts(size: 6, url: nil) { $0.learned = learned })
    }
    #expect(try first(TusScene.learned("creation", maxSize: "5")) == "fail policy.limit")
    #expect(try first(TusScene.learned("creation", maxSize: "6")) == "create")
    var old = TusScene.learned("creation")
    old.discovered?["versions"] = "0.2.2"
    #expect(try first(old) == "fail proto.unsupported")
  }

  // MARK: - Sizes

  @Test func layoutsComeFromSettingsAndRowsKeepTheirs() throws {
    let mebibyte: Int64 = 1 << 20
    let tus = try TusScene.tus()
    #expect(try tus.layout(size: 64 * mebibyte).count == 1)
    #expect(try tus.layout(size: 64 * mebibyte + 1).count == 2)
    #expect(try tus.layout(size: 64 * mebibyte * 10_001).count <= 10_000)
    #expect(try TusScene.tus(partSize: 65_536).layout(size: 196_613).count == 4)
    let large = TusScene.facts(size: 2_000 * mebibyte, extensions: "concatenation", url: nil) { $0.isPlanned = false }
    let joining = try TusScene.tus { $0.isParallel = true }
    #expect(try joining.layout(large).chunkSize == 125 * mebibyte)
    #expect(try joining.layout(large).count == 16)
    #expect(try TusScene.tus().layout(large).chunkSize == 64 * mebibyte)
    // A chunk from an earlier run is sent as its row says.
    let other = try TusScene.tus(partSize: mebibyte)
    let chunk = TusScene.chunk(0, 0..<(5 * mebibyte))
    #expect(other.bodyRange(of: chunk, TusScene.facts(size: 5 * mebibyte)) == chunk.rest)
    #expect(throws: TransferError.self) { try TusScene.tus(partSize: 0) }
  }

  @Test func bodiesAreShortWhereTheyAreCheckedOrWereTooLong() throws {
    let tus = try TusScene.tus(partSize: 1 << 20)
    var chunk = TusScene.chunk(1, (4 << 20)..<(8 << 20), acked: 1 << 20)
    func length(_ extensions: String, _ note: String? = nil) -> ByteRange {
      tus.bodyRange(
        of: chunk,
        TusScene.facts(size: 8 << 20, extensions: extensions, checksums: "sha1") { $0.session?.notes["body"] = note })
    }
    #expect(length("creation") == ByteRange(offset: 5 << 20, length: 3 << 20))
    #expect(length("checksum") == ByteRange(offset: 5 << 20, length: 1 << 20))
    #expect(length("creation", "65536") == ByteRange(offset: 5 << 20, length: 65536))
    #expect(length("creation", "-1") == chunk.rest)
    // A checked body is stored entirely or not at all; an unchecked one is kept as far as it arrived.
    chunk.mostAtOnce = 1000
    #expect(length("checksum") == ByteRange(offset: 5 << 20, length: 1000))
    #expect(length("creation") == chunk.rest)
  }
}
