import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Trees pushed by the shipped engine, with the session protocols of the receiver.
@Suite struct UploadSessionTests {
  private func methods(_ scene: Scene) throws -> [String: Int] {
    let events = try ReceiverRecord.read(path: "\(scene.root)/record.ndjson")
    var counts: [String: Int] = [:]
    for event in events {
      if case .start(let method, _) = event.kind { counts[method, default: 0] += 1 }
    }
    return counts
  }

  /// Many files start at the same time; one of them queries what the server supports.
  @Test(arguments: [("tus+", "/-/tus/"), ("resumable+", "/-/resumable/")])
  func theServerIsAskedOnceForATree(_ scheme: String, _ place: String) throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 3, count: 40)
    _ = try scene.add(to: place, scheme: scheme)
    let result = try scene.run()
    #expect(result.done == files.count)
    let methods = try methods(scene)
    #expect(methods["OPTIONS"] == 1)
    // tus: creation and body, except for the empty file; resumable: one request a file.
    #expect(methods["PATCH"] == (scheme == "tus+" ? files.count - 1 : nil))
    #expect(methods[scheme == "tus+" ? "POST" : "PUT"] == files.count)
  }

  /// A chunk that was begun and waits for a connection ends together with the refused one, and after it: the last of
  /// them releases the file, which the ledger accepts only when no attempt is open.
  @Test func aRefusedChunkEndsItsFileWhileAnotherWaitsToBeSent() throws {
    let subject = try ConformanceSubject.named("profile flow")
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize,
      script: "match POST * nth=1 : hold=first\nmatch POST * nth=2 : hold=other\n"
        + "match POST * nth=3 : hold=refused status=403\n")
    try Scene.write(scene.content, to: NameBytes("\(scene.scene.root)/source/other.bin"))
    scene.workers = 2
    try scene.add()
    let person = try scene.meanwhile { ledger, server in
      // Two chunks travel at once and may arrive in either order; both belong to one file, and the third is sent
      // afterwards.
      for name in ["first", "other"] { _ = try? server.waitUntilHeld(name, timeoutMs: Scene.patienceMs) }
      server.release("first")
      try? ledger.wait { try Self.parts($0).count == 4 }
      server.release("refused")
      try? ledger.wait { try Self.parts($0).contains("fatal") }
      server.release("other")
    }
    let summary = try scene.run()
    person.join()
    #expect(summary.failed == 1 && summary.done == 1)
    let attempts = try scene.look { try $0.attempts(RowFilter(), after: 0, limit: 100) }
    let outcomes = attempts.filter { $0.operation == "part" }.map(\.outcome)
    #expect(outcomes == ["ok", "ok", "fatal", "interrupted"])
  }

  /// The outcomes of the attempts at chunks; those that run are `open`.
  private static func parts(_ reader: LedgerReader) throws -> [String] {
    try reader.attempts(RowFilter(), after: 0, limit: 100).filter { $0.operation == "part" }.map(\.outcome)
  }

  /// A withdrawn permission says nothing about what the server holds: a retry resumes from that.
  @Test func aRefusalInTheMiddleKeepsWhatTheServerHas() throws {
    let subject = try ConformanceSubject.named("tus")
    let scene = try ConformanceScene(
      subject, size: 4 * subject.chunkSize, script: "match PATCH * nth=3 : status=403\n")
    try scene.add()
    #expect(try scene.run().failed == 1)
    #expect(try scene.openSessions().count == 1)
    _ = try scene.withLedger { try $0.write { try $0.control(.retry(startsOver: false), RowFilter()) } }
    let summary = try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(summary.bytesTransferred == Int64(2 * subject.chunkSize))
  }

  /// A server that refuses every chunk gets only a few of them, not all.
  @Test func chunksThatAllFailAreNoStorm() throws {
    let subject = try ConformanceSubject.named("profile numbered-chunks")
    let scene = try ConformanceScene(
      subject, size: 40 * subject.chunkSize, script: "match POST /-/chunks/upload* : status=423\n")
    scene.maxAttempts = 3
    // Long enough for all forty to be tried before the first is due again, if nothing held them back.
    scene.backoffMs = 300
    try scene.add()
    #expect(try scene.run().failed == 1)
    // Four chunks fail, and those that were in flight meanwhile; each three times.
    let count = try scene.requestCount
    #expect(count <= 8 * 3 + 1)
  }

  /// No attempt claims that something was ended if nothing was requested.
  @Test func whatCannotBeEndedAtTheServerIsNotCalledAborted() throws {
    let subject = try ConformanceSubject.named("profile numbered-chunks")
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize, script: "match POST /-/chunks/upload* : status=403\n")
    try scene.add()
    #expect(try scene.run().failed == 1)
    let aborts = try scene.look { try $0.attempts(RowFilter(), after: 0, limit: 100) }
      .filter { $0.operation == "abort" }
    #expect(aborts.map(\.outcome) == ["interrupted"])
    #expect(aborts.first?.message?.hasPrefix("nothing was sent") == true)
  }

  /// A run for its own batch does not leave an upload of it on the server, because the next run may be far away.
  @Test func theEndOfAnUploadIsAwaitedAfterTheLastFile() throws {
    let subject = try ConformanceSubject.named("tus")
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize,
      script: "match PATCH * : status=403\nmatch DELETE * nth=1 : status=503\n")
    scene.awaited = [try #require(try scene.add().batch)]
    #expect(try scene.run().failed == 1)
    #expect(try scene.openSessions().isEmpty)
  }

  /// An abort that cannot be requested now is requested when there are credentials: the server still holds the upload.
  @Test func anUploadIsEndedWhenItsCredentialsAreBack() throws {
    let subject = try ConformanceSubject.named("tus")
    let scene = try ConformanceScene(
      subject, size: 4 * subject.chunkSize, script: "match PATCH * nth=2 : status=503\n")
    scene.backoffMs = 600_000
    let token = "\(scene.scene.root)/token"
    try Scene.write(Array("t\n".utf8), to: NameBytes(token))
    scene.auth = "bearer=file:\(token)"
    try scene.add()
    #expect(try scene.run().left == 1)
    _ = try scene.withLedger { try $0.write { try $0.control(.cancel, RowFilter()) } }
    try #require(unlink(token) == 0)
    try scene.run()
    #expect(try scene.openSessions().count == 1)
    try Scene.write(Array("t\n".utf8), to: NameBytes(token))
    scene.clock.advance(ms: 600_000)
    try scene.run()
    #expect(try scene.openSessions().isEmpty)
    let aborts = try scene.look { try $0.attempts(RowFilter(), after: 0, limit: 100) }.filter {
      $0.operation == "abort"
    }
    #expect(aborts.last?.outcome == "ok" && aborts.count > 1, "\(aborts.map { ($0.outcome, $0.message) })")
    #expect(aborts.dropLast().allSatisfy { $0.outcome == "fatal" && $0.errorCode == "auth.missing" })
  }
}
