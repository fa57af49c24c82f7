import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct BuiltinProfileTests {
  typealias Turn = ProfileDriver.Turn

  func field(_ request: TransferRequest, _ name: String) -> String? { request.fields[HTTPField.Name(name)!] }

  func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(arguments: BuiltinProfile.names)
  func eachOneIsReadAndNamesItself(_ name: String) throws {
    let profile = try Profile.read(#require(BuiltinProfile.text(name)), file: name)
    #expect(profile.name == name)
    #expect(try Profile.read(Array(profile.text.utf8), file: name) == profile)
  }

  // MARK: - Token blocks

  private static let block = 4 << 20
  private static let blocks = "https://h.example/api"

  private func blockTurns(_ count: Int, rotating: Bool) -> [Turn] {
    var turns = [
      Turn.on("POST https://h.example/api/init?r=1", 200, #"{"code":0,"data":{"upToken":"T0"}}"#) { request, body in
        #expect(field(request, "X-Token") == "s3cret")
        #expect(text(body) == #"{"fileName":"a b.txt","totFileSize":9437184,"suffix":"txt"}"#)
      }
    ]
    for i in 0..<count {
      let (token, next) = rotating ? ("T\(i)", "T\(i + 1)") : ("T0", "T0")
      let url = i == count - 1 ? #","fileUrl":"https://f/1""# : ""
      let line = "POST https://h.example/api/block?r=1&upToken=\(token)&sequenceNo=\(i + 1)&"
      turns.append(.on(line, 200, #"{"code":0,"data":{"upToken":"\#(next)"\#(url)}}"#))
    }
    return turns
  }

  private func blocksDriver(_ size: Int = 9 << 20) throws -> ProfileDriver {
    try ProfileDriver(
      builtin("token-blocks", Self.blocks + "?r=1"), content: pattern(size), secrets: ["app_token": "s3cret"])
  }

  private static let saved = #"{"code":0,"data":{"size":9437184}}"#

  @Test func blocksGoInOrderWithTheTokenOfTheAnswerBefore() throws {
    let driver = try blocksDriver()
    let crc = RunningDigest.of(pattern(9 << 20), .crc32c)
    let end = driver.run(
      blockTurns(3, rotating: true) + [
        .on("POST https://h.example/api/save?r=1", 200, #"{"code":0,"data":{"crc32c":"\#(hexText(crc.bytes))"}}"#) {
          _, body in
          #expect(text(body) == #"{"fileUrl":"https://f/1","name":"d/a b.txt","size":9437184}"#)
        }
      ])
    #expect(end.isDone(.digest))
    guard case .done(let proof) = end else { return }
    #expect(proof.digest == crc && proof.remoteDigest == crc)
    #expect(!driver.facts.session!.notes.values.contains { $0.contains("s3cret") })
  }

  @Test func aBlockNamesItsLengthAndChecksum() throws {
    let driver = try blocksDriver(10)
    let crc = hexText(RunningDigest.of(pattern(10), .crc32).bytes)
    _ = driver.run([
      .on("POST https://h.example/api/init", 200, #"{"code":0,"data":{"upToken":"a/b&c"}}"#),
      .on(
        "POST https://h.example/api/block?r=1&upToken=a%2Fb%26c&sequenceNo=1&blockSize=10&totFileSize=10&suffix=txt&crc=\(crc)",
        200, #"{"code":0,"data":{"fileUrl":"u"}}"#
      ) { _, body in #expect(body == pattern(10)) },
      .on("POST https://h.example/api/save", 200, #"{"code":0}"#),
    ])
  }

  @Test func afterALostAnswerTheServerIsAsked() throws {
    let driver = try blocksDriver()
    let turns = blockTurns(3, rotating: false)
    let end = driver.run([
      turns[0], turns[1], .lost("POST https://h.example/api/block?r=1&upToken=T0&sequenceNo=2"),
      .on("GET https://h.example/api/query?r=1&upToken=T0", 200, #"{"code":0,"data":{"next":3}}"#), turns[3],
      .on("POST https://h.example/api/save", 200, Self.saved),
    ])
    #expect(end.isDone(.size))
  }

  @Test func businessCodesAreUnderstood() throws {
    let driver = try blocksDriver()
    let turns = blockTurns(3, rotating: false)
    let line = "POST https://h.example/api/block?r=1&upToken=T0&sequenceNo="
    let end = driver.run([
      turns[0], .on(line + "1", 200, #"{"code":40032}"#),
      .on("GET https://h.example/api/query", 200, #"{"code":0,"data":{"next":1}}"#),
      .on(line + "1", 200, #"{"code":0}"#), .on(line + "2", 200, #"{"code":40031,"data":{"next":3}}"#),
      .on(line + "3", 200, #"{"code":40031,"data":{"fileUrl":"https://f/9"}}"#),
      .on("POST https://h.example/api/save", 200, Self.saved) { _, body in #expect(text(body).contains("https://f/9"))
      },
    ])
    #expect(end.isDone())
  }

  @Test func anExpiredTokenBeginsAnewTwiceAtMost() throws {
    let driver = try blocksDriver()
    let start = blockTurns(3, rotating: false)[0]
    let gone = Turn.on("POST https://h.example/api/block", 200, #"{"code":40101}"#)
    guard case .failed(let failure) = driver.run([start, gone, start, gone, start, gone]) else {
      Issue.record("it did not fail")
      return
    }
    #expect(failure.message.contains("restarted 2 times"))
  }

  @Test func progressAllowsToBeginAnewAgain() throws {
    let driver = try blocksDriver()
    let turns = blockTurns(3, rotating: false)
    let gone = Turn.on("POST https://h.example/api/block", 200, #"{"code":40101}"#)
    let save = Turn.on("POST https://h.example/api/save", 200, Self.saved)
    let end = driver.run([turns[0], gone, turns[0], turns[1], gone, turns[0], turns[1], gone] + turns + [save])
    #expect(end.isDone())
  }

  @Test func aLastBlockThatIsThereWithoutItsURLBeginsAnew() throws {
    let driver = try blocksDriver(10)
    let start = Turn.on("POST https://h.example/api/init", 200, #"{"code":0,"data":{"upToken":"T"}}"#)
    let end = driver.run([
      start, .lost("POST https://h.example/api/block"),
      .on("GET https://h.example/api/query", 200, #"{"code":0,"data":{"next":1}}"#),
      .on("POST https://h.example/api/block", 200, #"{"code":40031}"#), start,
      .on("POST https://h.example/api/block", 200, #"{"code":0,"data":{"fileUrl":"u"}}"#),
      .on("POST https://h.example/api/save", 200, #"{"code":0}"#),
    ])
    #expect(end.isDone())
  }

  @Test func aLostAnswerToTheSaveCallLeavesTheFileUnknown() throws {
    let driver = try blocksDriver(10)
    let end = driver.run([
      .on("POST https://h.example/api/init", 200, #"{"code":0,"data":{"upToken":"T"}}"#),
      .on("POST https://h.example/api/block", 200, #"{"code":0,"data":{"fileUrl":"u"}}"#),
      .lost("POST https://h.example/api/save"),
    ])
    guard case .unknown(let failure) = end else {
      Issue.record("\(end)")
      return
    }
    #expect(failure.code == .protoLostAnswer && failure.message.hasPrefix("the answer to the commit was lost"))
    #expect(driver.proto.abilities.unrepeatable == [.finish])
  }

  @Test func anHTMLPageIsNoAnswer() throws {
    let driver = try blocksDriver(10)
    let page = Turn.on(
      "POST https://h.example/api/init", 200, "<!DOCTYPE html><p>Sign in", ["Content-Type": "text/html"])
    guard case .failed(let failure) = driver.run([Turn](repeating: page, count: 8)) else {
      Issue.record("it did not fail")
      return
    }
    #expect(failure.message == "the server answered an HTML page, not JSON (status 200)")
    #expect(failure.code == .protoBadReply)
  }

  // MARK: - Numbered chunks

  @Test func numberedChunksAreMergedOnce() throws {
    let driver = try ProfileDriver(
      builtin("numbered-chunks", "https://h.example/c/", partSize: 4), content: pattern(10),
      secrets: ["token": "Bearer t"])
    var ids: Set<String?> = []
    let chunk = { (number: Int) in
      Turn.on("POST https://h.example/c/upload", 200) { request, body in
        ids.insert(field(request, "X-Upload-Id"))
        #expect(field(request, "X-Chunk-Number") == "\(number)" && field(request, "X-Chunk-Count") == "3")
        #expect(field(request, "X-Total-Size") == "10" && field(request, "Authorization") == "Bearer t")
        #expect(body == Array(pattern(10)[(number - 1) * 4..<min(10, number * 4)]))
      }
    }
    let end = driver.run([
      chunk(1), chunk(2), chunk(3), .on("POST https://h.example/c/merge", 202, "", ["Retry-After": "3"]),
      .on("GET https://h.example/c/merge?uploadId=", 202),
      .on("GET https://h.example/c/merge?uploadId=", 200, #"{"key":"k","size":10}"#),
    ])
    #expect(end.isDone(.size))
    #expect(ids.count == 1 && ids.first! != nil)
  }

  @Test func aLostMergeIsAskedAboutBeforeItIsRepeated() throws {
    for (answer, repeats) in [
      (Turn.on("GET https://h.example/c/merge?uploadId=", 404), true),
      (.on("GET https://h.example/c/merge?uploadId=", 200, #"{"size":3}"#), false),
    ] {
      let driver = try ProfileDriver(builtin("numbered-chunks", "https://h.example/c"), content: pattern(3))
      let again = Turn.on("POST https://h.example/c/merge", 200, #"{"size":3}"#)
      let end = driver.run(
        [.on("POST https://h.example/c/upload", 200), .lost("POST https://h.example/c/merge"), answer]
          + (repeats ? [again] : []))
      #expect(end.isDone(.size))
    }
  }

  @Test func afterARestartTheServerSaysWhichChunksItHas() throws {
    let driver = try ProfileDriver(builtin("numbered-chunks", "https://h.example/c", partSize: 4), content: pattern(12))
    driver.facts.session = SessionFacts(remoteID: "u", intendedAtMs: 1, notes: ["uuid": "u"])
    for seq in [0, 2] {
      driver.chunks[seq].receipt = PartReceipt(seq: seq, length: 4, etag: "", digest: nil, confirmation: .none)
    }
    driver.claimAgain()
    let end = driver.run([
      .on("GET https://h.example/c/status?uploadId=u", 200, #"{"uploaded":[{"n":1,"size":4}]}"#),
      .on("POST https://h.example/c/upload", 200) { request, _ in #expect(field(request, "X-Chunk-Number") == "2") },
      .on("POST https://h.example/c/upload", 200) { request, _ in #expect(field(request, "X-Chunk-Number") == "3") },
      .on("POST https://h.example/c/merge", 200, #"{"size":12}"#),
    ])
    #expect(end.isDone(.size))
  }

  @Test func theFormVariantHasFields() throws {
    let driver = try ProfileDriver(builtin("numbered-chunks-form", "https://h.example/c"), content: pattern(5))
    let end = driver.run([
      .on("POST https://h.example/c/upload", 200) { request, body in
        let form = text(body)
        #expect(form.contains("name=\"chunkNumber\"\r\n\r\n1\r\n") && form.contains("name=\"totalSize\"\r\n\r\n5\r\n"))
        #expect(form.contains("name=\"file\"; filename=\"a b.txt\"\r\n"))
        #expect(field(request, "Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
      },
      .on("POST https://h.example/c/merge", 200, #"{"size":5}"#),
    ])
    #expect(end.isDone(.size))
  }

  // MARK: - Browser libraries

  @Test(arguments: [("resumablejs", "resumable", 200), ("flow", "flow", 202)])
  func theLastChunkTakesTheRemainder(_ name: String, _ prefix: String, _ have: Int) throws {
    let size = (5 << 20) / 2
    let driver = try ProfileDriver(builtin(name, "https://h.example/up"), content: pattern(size))
    #expect(driver.chunks.count == 2)
    let first =
      "?\(prefix)ChunkNumber=1&\(prefix)TotalChunks=2&\(prefix)ChunkSize=1048576&\(prefix)CurrentChunkSize=1048576"
    let second =
      "?\(prefix)ChunkNumber=2&\(prefix)TotalChunks=2&\(prefix)ChunkSize=1048576&\(prefix)CurrentChunkSize=1572864"
    let end = driver.run([
      .lost("POST https://h.example/up"), .on("GET https://h.example/up\(first)", 204),
      .on("POST https://h.example/up", 200) { _, body in
        #expect(text(Array(body.prefix(2_000))).contains("name=\"\(prefix)RelativePath\"\r\n\r\nd/a b.txt\r\n"))
      },
      .lost("POST https://h.example/up"), .on("GET https://h.example/up\(second)", have),
    ])
    #expect(end.isDone())
  }

  @Test func dropzoneCountsFromZeroAndCannotAskAboutAMerge() throws {
    let driver = try ProfileDriver(builtin("dropzone", "https://h.example/d", partSize: 4), content: pattern(6))
    let chunk = { (index: Int) in
      Turn.on("POST https://h.example/d/upload", 200) { _, body in
        #expect(text(body).contains("name=\"dzchunkindex\"\r\n\r\n\(index)\r\n"))
        #expect(text(body).contains("name=\"dzchunkbyteoffset\"\r\n\r\n\(index * 4)\r\n"))
      }
    }
    let end = driver.run([chunk(0), chunk(1), .on("POST https://h.example/d/merge", 502)])
    guard case .unknown = end else {
      Issue.record("\(end)")
      return
    }
  }
}
