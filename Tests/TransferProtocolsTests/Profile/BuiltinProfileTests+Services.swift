import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// The profiles of public services: Qiniu, Microsoft Graph, Dropbox, Nextcloud, Google.
extension BuiltinProfileTests {
  @Test func qiniu1ChecksEachBlockAndJoinsTheContexts() throws {
    let content = pattern((4 << 20) + 5)
    let driver = try ProfileDriver(
      builtin("qiniu-v1", "https://up.example", ["prefix": "p/"]), content: content, secrets: ["uptoken": "T"])
    let crc = { (range: Range<Int>) in
      RunningDigest.of(Array(content[range]), .crc32).bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    let (first, second) = (crc(0..<4 << 20), crc(4 << 20..<content.count))
    let end = driver.run([
      .on("POST https://up.example/mkblk/4194304", 200, #"{"ctx":"c0","crc32":1}"#),
      .on("POST https://up.example/mkblk/4194304", 200, #"{"ctx":"c1","crc32":\#(first),"expired_at":1800000000}"#) {
        request, _ in
        #expect(field(request, "Authorization") == "UpToken T")
      },
      .on("POST https://up.example/mkblk/5", 200, #"{"ctx":"c2","crc32":\#(second)}"#),
      .on("POST https://up.example/mkfile/4194309/key/\("cC9kL2EgYi50eHQ=")/fname/YSBiLnR4dA==", 200, "{}") { _, body in
        #expect(text(body) == "c1,c2")
      },
    ])
    #expect(end.isDone(.digest))
  }

  @Test func qiniu1KnowsItsCodes() throws {
    let start = Turn.on(
      "POST https://up.example/mkblk/3", 200,
      #"{"ctx":"c","crc32":\#(RunningDigest.of(pattern(3), .crc32).bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })}"#)
    let driver = try ProfileDriver(
      builtin("qiniu-v1", "https://up.example"), content: pattern(3), secrets: ["uptoken": "T"])
    let gone = Turn.on("POST https://up.example/mkfile/3", 701)
    let end = driver.run([
      start, gone, gone, gone, start,
      .on("POST https://up.example/mkfile/3", 614, #"{"error":"file exists"}"#),
    ])
    guard case .failed(let failure) = end else {
      Issue.record("\(end)")
      return
    }
    #expect(failure.message.contains("there is already an object"))
  }

  @Test func qiniu2ListsItsParts() throws {
    let content = pattern((4 << 20) + 1)
    let driver = try ProfileDriver(
      builtin("qiniu-v2", "https://up.example", ["bucket": "b"]), content: content, secrets: ["uptoken": "T"])
    let place = "https://up.example/buckets/b/objects/ZC9hIGIudHh0/uploads"
    let end = driver.run([
      .on("POST \(place)", 200, #"{"uploadId":"U","expireAt":1800000000}"#),
      .on("PUT \(place)/U/1", 200, #"{"etag":"e1"}"#) { request, body in
        #expect(field(request, "Content-MD5") == hexText(RunningDigest.of(body, .md5).bytes))
      },
      .on("PUT \(place)/U/2", 612), .on("POST \(place)", 200, #"{"uploadId":"V"}"#),
      .on("PUT \(place)/V/1", 200, #"{"etag":"e1"}"#), .on("PUT \(place)/V/2", 200, #"{"etag":"e2"}"#),
      .on("POST \(place)/V", 200, #"{"key":"k"}"#) { _, body in
        #expect(
          text(body)
            == #"{"parts":[{"etag":"e1","partNumber":1},{"etag":"e2","partNumber":2}],"fname":"a b.txt","mimeType":"text/plain"}"#
        )
      },
    ])
    #expect(end.isDone())
  }

  @Test func qiniu2KnowsTheCodesOfQiniu1() throws {
    let driver = try ProfileDriver(
      builtin("qiniu-v2", "https://up.example", ["bucket": "b"]), content: pattern(3), secrets: ["uptoken": "T"])
    let place = "https://up.example/buckets/b/objects/ZC9hIGIudHh0/uploads"
    let end = driver.run([
      .on("POST \(place)", 573), .on("POST \(place)", 200, #"{"uploadId":"U"}"#),
      .on("PUT \(place)/U/1", 200, #"{"etag":"e1"}"#), .on("POST \(place)/U", 579),
    ])
    guard case .failed = end else {
      Issue.record("\(end)")
      return
    }
  }

  private func graph(_ size: Int, _ inputs: [String: String] = [:]) throws -> ProfileDriver {
    let inputs = inputs.merging(["drive": "D"]) { $1 }
    return try ProfileDriver(
      builtin("graph", "https://graph.example/v1.0", inputs, partSize: 320 << 10), content: pattern(size),
      secrets: ["token": "T"])
  }

  static let session =
    #"{"uploadUrl":"https://other.example/s?sig=1","expirationDateTime":"2030-01-01T00:00:00.000Z","nextExpectedRanges":["0-"]}"#

  @Test func graphSendsNoTokenToTheUploadURL() throws {
    let size = 400 << 10
    let driver = try graph(size)
    let put = "PUT https://other.example/s?sig=1"
    let end = driver.run([
      .on("POST https://graph.example/v1.0/drives/D/items/root:/d/a%20b.txt:/createUploadSession", 200, Self.session) {
        request, _ in
        #expect(field(request, "Authorization") == "Bearer T")
      },
      .on(put, 202, #"{"nextExpectedRanges":["327680-409599"]}"#) { request, _ in
        #expect(field(request, "Authorization") == nil)
        #expect(field(request, "Content-Range") == "bytes 0-327679/\(size)")
      },
      .on(put, 202, #"{"nextExpectedRanges":["400000-"]}"#),
      .on(put, 416) { request, body in
        #expect(field(request, "Content-Range") == "bytes 400000-409599/\(size)")
        #expect(body == Array(pattern(size)[400_000..<409_600]))
      },
      // What was refused may have been stored: the item is queried first.
      .on("GET https://graph.example/v1.0/drives/D/items/root:/d/a%20b.txt?", 404),
      .on("GET https://other.example/s?sig=1", 200, #"{"nextExpectedRanges":["327680-"]}"#),
      .on(put, 201, #"{"id":"x","size":\#(size)}"#),
    ])
    #expect(end.isDone(.size))
  }

  @Test func aPositionThatNoMultipleLeadsOnFromBeginsAnew() throws {
    let driver = try graph(700 << 10)
    let put = "PUT https://other.example/s?sig=1"
    let create = Turn.on("POST https://graph.example/v1.0/drives", 200, Self.session)
    let end = driver.run([
      create, .on(put, 202, #"{"nextExpectedRanges":["1000-"]}"#), create,
      .on(put, 202, #"{"nextExpectedRanges":["327680-"]}"#), .on(put, 202, #"{"nextExpectedRanges":["655360-"]}"#),
      .on(put, 201, #"{"size":716800}"#),
    ])
    #expect(end.isDone(.size))
  }

  @Test func anObjectOfAnotherSizeIsSentAnew() throws {
    let driver = try google(10)
    let put = "PUT https://g.example/up/1?id=2"
    let end = driver.run([
      Self.created(), .on(put, 200, #"{"size":"9"}"#), Self.created(), .on(put, 200, #"{"size":"10"}"#),
    ])
    #expect(end.isDone(.size))
    let other = try google(10)
    let wrong = [Self.created(), Turn.on(put, 200, #"{"size":"9"}"#)]
    guard case .failed(let failure) = other.run(wrong + wrong + wrong) else {
      Issue.record("it did not fail")
      return
    }
    #expect(failure.code == .integrityMismatch)
  }

  /// SharePoint writes properties into documents. Sending one again would not change that.
  @Test func aDocumentThatTheServerMakesLongerIsSentOnce() throws {
    let create = Turn.on("POST https://graph.example/v1.0/drives", 200, Self.session)
    let put = Turn.on("PUT https://other.example/s?sig=1", 201, #"{"id":"x","size":12}"#)
    let end = try graph(10).run([create, put])
    #expect(end.failure?.code == .integrityMismatch, "\(end)")
    #expect(end.failure?.message.contains("the server has changed the file") == true, "\(end)")
    let allowed = try graph(10, ["rewrites": "allow"]).run([create, put])
    #expect(allowed.isDone(TransferModel.Confirmation.none), "\(allowed)")
    let same = try graph(10, ["rewrites": "refuse"])
    #expect(same.run([create, .on("PUT https://other.example/s?sig=1", 201, #"{"size":10}"#)]).isDone(.size))
  }

  @Test func aPageIsNoSuccessOfAnUpload() throws {
    let driver = try ProfileDriver(builtin("dropzone", "https://h.example/d"), content: pattern(3))
    let end = driver.run([
      .on("POST https://h.example/d/upload", 200, "<!DOCTYPE html><title>Sign in</title>"),
      .on("POST https://h.example/d/upload", 200, "ok", ["Content-Type": "text/html"]),
      .on("POST https://h.example/d/merge", 200, "{}"),
    ])
    #expect(end.isDone())
  }

  @Test func graphForgetsANewSessionOnceAtMost() throws {
    let driver = try graph(10)
    let create = Turn.on("POST https://graph.example/v1.0/drives", 200, Self.session)
    let put = "PUT https://other.example/s?sig=1"
    let end = driver.run([
      create, .on(put, 404), .on("GET https://other.example/s?sig=1", 200, #"{"nextExpectedRanges":["0-"]}"#),
      .on(put, 404),
      create, .on(put, 201),
    ])
    #expect(end.isDone())
    #expect(throws: TransferError.self) { try graph(0) }
  }

  @Test func dropboxSaysWhereItIs() throws {
    let driver = try ProfileDriver(
      builtin("dropbox", "https://content.example/2/files", ["prefix": "/é/"], partSize: 4), content: pattern(10),
      secrets: ["token": "T"])
    let place = "https://content.example/2/files/upload_session"
    let end = driver.run([
      .on("POST \(place)/start", 200, #"{"session_id":"S"}"#), .on("POST \(place)/append_v2", 200, "null"),
      .on("POST \(place)/append_v2", 409, #"{"error":{".tag":"incorrect_offset","correct_offset":6}}"#),
      .on("POST \(place)/append_v2", 200, "null") { request, body in
        #expect(field(request, "Dropbox-API-Arg") == #"{"cursor":{"session_id":"S","offset":6},"close":false}"#)
        #expect(body == Array(pattern(10)[6..<8]))
      },
      .on("POST \(place)/append_v2", 409, #"{"error":{".tag":"closed"}}"#),
      .on("POST \(place)/finish", 200, #"{"size":10}"#) { request, _ in
        #expect(
          field(request, "Dropbox-API-Arg")
            == #"{"cursor":{"session_id":"S","offset":10},"commit":{"path":"/\u00e9/d/a b.txt","mode":"overwrite"}}"#)
      },
    ])
    #expect(end.isDone(.size))
  }

  private func nextcloud(_ size: Int) throws -> ProfileDriver {
    try ProfileDriver(
      builtin("nextcloud", "https://cloud.example/remote.php/dav", ["user": "u"], partSize: 5_000_000),
      content: pattern(size), secrets: ["login": "u:p"])
  }

  private static let head: [String: String] = [
    "Content-Length": "5000003", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
  ]

  @Test func nextcloudMergesWhileItSays423() throws {
    let driver = try nextcloud(5_000_003)
    let dav = "https://cloud.example/remote.php/dav"
    let end = driver.run([
      .on("MKCOL \(dav)/uploads/u/", 405) { request, _ in
        #expect(field(request, "Authorization") == "Basic dTpw")
        #expect(field(request, "Destination") == "\(dav)/files/u/d/a%20b.txt")
      },
      .on("PUT \(dav)/uploads/u/", 201) { request, _ in #expect(request.url.hasSuffix("/00001")) },
      .on("PUT \(dav)/uploads/u/", 201) { request, _ in #expect(request.url.hasSuffix("/00002")) },
      .on("MOVE \(dav)/uploads/u/", 423) { request, _ in #expect(field(request, "X-OC-Mtime") == "784111777") },
      .on("MOVE \(dav)/uploads/u/", 423), .on("MOVE \(dav)/uploads/u/", 404),
      .on("HEAD \(dav)/files/u/d/a%20b.txt", 200, "", Self.head),
    ])
    #expect(end.isDone(.size))
  }

  @Test func a404WithoutA423IsAFolderThatIsGone() throws {
    let driver = try nextcloud(3)
    let dav = "https://cloud.example/remote.php/dav"
    let turns: [Turn] = [.on("MKCOL \(dav)/uploads/u/", 201), .on("PUT \(dav)/uploads/u/", 201)]
    let gone = Turn.on("MOVE \(dav)/uploads/u/", 404)
    let end = driver.run(
      turns + [gone, gone, gone] + turns + [
        .on("MOVE \(dav)/uploads/u/", 201), .on("HEAD \(dav)/files", 200, "", ["Content-Length": "3"]),
      ])
    #expect(end.isDone(.size))
  }

  @Test func nextcloudListsItsFolderAfterARestart() throws {
    let driver = try nextcloud(5_000_003)
    driver.facts.session = SessionFacts(remoteID: "u", intendedAtMs: 1, notes: ["uuid": "u"])
    driver.claimAgain()
    let dav = "https://cloud.example/remote.php/dav"
    driver.chunks[0].receipt = PartReceipt(seq: 0, length: 5_000_000, etag: "", digest: nil, confirmation: .none)
    let list =
      "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/x/u/</d:href></d:response>"
      + "<d:response><d:href>/x/u/00001</d:href></d:response></d:multistatus>"
    let end = driver.run([
      .on("PROPFIND \(dav)/uploads/u/u", 207, list) { request, body in
        #expect(field(request, "Depth") == "1" && field(request, "Content-Type") == "application/xml")
        #expect(text(body).contains("<d:prop><d:getcontentlength/></d:prop>"))
      },
      .on("PUT \(dav)/uploads/u/u/00002", 201), .on("MOVE \(dav)/uploads/u/u/.file", 201),
      .on("HEAD \(dav)/files/u/d/a%20b.txt", 200, "", Self.head),
    ])
    #expect(end.isDone(.size))
  }

  private func google(_ size: Int, partSize: Int64 = 256 << 10) throws -> ProfileDriver {
    try ProfileDriver(
      builtin("google", "https://g.example/upload", partSize: partSize), content: pattern(size),
      secrets: ["token": "Bearer T"])
  }

  private static func created() -> Turn {
    .on(
      "POST https://g.example/upload?uploadType=resumable", 200, "", ["Location": "/up/1?id=2"])
  }

  @Test func googleKeepsTheBeginningOfAChunk() throws {
    let size = 600 << 10
    let driver = try google(size, partSize: 512 << 10)
    let put = "PUT https://g.example/up/1?id=2"
    let end = driver.run([
      Self.created(),
      .on(put, 308, "", ["Range": "bytes=0-262143"]) { request, _ in
        #expect(field(request, "Content-Range") == "bytes 0-524287/\(size)")
        #expect(field(request, "Authorization") == "Bearer T")
      },
      .lost(put),
      .on(put, 308, "", ["Range": "bytes=0-262143"]) { request, body in
        #expect(field(request, "Content-Range") == "bytes */\(size)")
        #expect(body.isEmpty)
      },
      .on(put, 308, "", ["Range": "bytes=0-524287"]) { request, body in
        #expect(field(request, "Content-Range") == "bytes 262144-524287/\(size)")
        #expect(body == Array(pattern(size)[262_144..<524_288]))
      },
      .lost(put), .on(put, 200, #"{"size":"\#(size)"}"#),
    ])
    #expect(end.isDone())
  }

  /// If the answer has no CRC32C, the MD5 of a file in one chunk is compared.
  @Test func googleComparesTheMD5() throws {
    let put = "PUT https://g.example/up/1?id=2"
    let md5 = RunningDigest.of(pattern(10), .md5)
    func answer(_ md5: String, _ crc: String = "") -> Turn {
      .on(put, 200, #"{"size":"10","md5Hash":"\#(md5)"\#(crc)}"#)
    }
    guard case .done(let proof) = try google(10).run([Self.created(), answer(base64(md5.bytes))]) else {
      Issue.record("it is not done")
      return
    }
    #expect(proof.confirmation == .digest && proof.digest == md5 && proof.remoteDigest == md5)
    let crc = RunningDigest.of(pattern(10), .crc32c)
    let both = answer(base64(md5.bytes), #","crc32c":"\#(base64(crc.bytes))""#)
    guard case .done(let other) = try google(10).run([Self.created(), both]) else {
      Issue.record("it is not done")
      return
    }
    #expect(other.digest == crc && other.remoteDigest == crc)
    let wrong = [Self.created(), answer("AAAA")]
    guard case .failed(let failure) = try google(10).run(wrong + wrong + wrong) else {
      Issue.record("it did not fail")
      return
    }
    #expect(failure.code == .integrityMismatch)
    // The whole file is not read again for a digest that an answer may have.
    let large = try google(600 << 10, partSize: 256 << 10)
    #expect(
      large.proto.fileDigests(for: .chunk(ChunkFacts(seq: 2, range: large.facts.layout.range(2))), large.facts) == [])
  }

  @Test(arguments: [("ya29.x", "Bearer ya29.x"), ("Bearer T", "Bearer T"), ("OAuth T", "OAuth T"), ("", nil)])
  func googleGetsABearerToken(_ token: String, _ header: String?) throws {
    let driver = try ProfileDriver(
      builtin("google", "https://g.example/upload"), content: pattern(3), secrets: ["token": token])
    _ = driver.run([
      .on("POST https://g.example/upload", 400) { request, _ in #expect(field(request, "Authorization") == header) }
    ])
  }

  @Test func googleTakesAnEmptyFile() throws {
    let driver = try google(0)
    let end = driver.run([
      Self.created(),
      .on("PUT https://g.example/up/1?id=2", 200, #"{"size":"0"}"#) { request, _ in
        #expect(field(request, "Content-Range") == "bytes */0")
      },
    ])
    #expect(end.isDone(.size))
  }

  @Test func anOffsetBeyondTheFileIsAnError() throws {
    let driver = try google(10)
    let end = driver.run([Self.created(), .on("PUT https://g.example/up/1?id=2", 308, "", ["Range": "bytes=0-99"])])
    guard case .failed(let failure) = end else {
      Issue.record("\(end)")
      return
    }
    #expect(failure.code == .protoOffset && failure.message == "the server claims 100 bytes of a file that has 10")
  }

  /// gcp-storage-emulator 2026.7.19 answers so when it holds nothing; Google keeps multiples of 256 KiB.
  @Test func oneByteIsNone() throws {
    let driver = try google(10)
    let put = "PUT https://g.example/up/1?id=2"
    let end = driver.run([
      Self.created(), .on(put, 502), .on(put, 308, "", ["Range": "bytes=0-0"]),
      .on(put, 200, #"{"size":"10"}"#) { request, _ in #expect(field(request, "Content-Range") == "bytes 0-9/10") },
    ])
    #expect(end.isDone())
  }

  @Test func aSessionThatExpiredIsBegunAnew() throws {
    let driver = try google(10)
    driver.facts.session = SessionFacts(
      remoteID: "x", intendedAtMs: 1, expiresAtMs: driver.nowMs - 1, notes: ["s.url": "\"https://g.example/old\""])
    let end = driver.run([Self.created(), .on("PUT https://g.example/up/1?id=2", 200)])
    #expect(end.isDone())
  }

  @Test func aLocationOnAnotherServerGetsNoToken() throws {
    let driver = try google(10)
    let end = driver.run([
      .on("POST https://g.example/upload", 200, "", ["Location": "https://evil.example/up"])
    ])
    guard case .failed(let failure) = end else {
      Issue.record("\(end)")
      return
    }
    #expect(failure.message.contains("points to another server (https://evil.example)"))
    #expect(driver.log.count == 1)
  }

  @Test func abortsNameTheSession() throws {
    let proto = try google(10).proto
    var facts = TransferFacts(
      file: FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("k"), size: 10, mtimeMs: 0),
      layout: ChunkLayout(whole: 10))
    facts.session = SessionFacts(remoteID: "x", intendedAtMs: 1, notes: ["s.url": "\"https://g.example/up/7\""])
    #expect(proto.abortTargets(facts) == ["x"])
    let context = RequestContext(wallMs: 1, credential: .inputs(["token": "T"]), learned: LearnedFacts())
    let request = try proto.request(.abort(remoteID: "x"), facts, context)
    #expect(request.method == .delete && request.url == "https://g.example/up/7")
    var reply = TransferReply()
    for status in [204, 499, 404] {
      reply.status = status
      guard case .settled = proto.interpret(reply, to: .abort(remoteID: "x"), facts, context).outcome else {
        Issue.record("\(status)")
        continue
      }
    }
    #expect(try builtin("dropzone", "https://h.example").abortTargets(facts) == [])
  }
}
