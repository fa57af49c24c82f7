import Receiver
import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Destinations are queried again about done files; judged by what the receiver got and the ledger reports.
@Suite struct ProveRemoteTests {
  private func scene(_ script: String = "", files: Int = 4) throws -> Scene {
    let scene = try Scene(script: script)
    for n in 0..<files { try Scene.write(Array("content \(n)".utf8), to: NameBytes("\(scene.root)/source/f\(n)")) }
    #expect(try scene.push().result.done == files)
    return scene
  }

  private func ask(
    _ scene: Scene, _ filter: RowFilter = RowFilter(), stop: StopSignal = StopSignal()
  ) throws(TransferError) -> RemoteProof {
    try TransferStore(at: scene.storePath).proveRemotely(filter, argv: ["test"], notice: { _ in }, stop: stop)
  }

  private func rows(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  private func proof(_ scene: Scene, _ filter: RowFilter = RowFilter()) throws -> LossProof {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() } == [])
    return try ledger.read { try $0.lossProof(filter) }
  }

  private func heads(_ scene: Scene) throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count { event in
      if case .start(let method, _) = event.kind { method == "HEAD" } else { false }
    }
  }

  @Test func whatIsThereIsProvenAndRecorded() throws {
    let scene = try scene()
    let asked = try ask(scene)
    #expect(asked.proven == [.digest: 4] && asked.isProven && asked.asked == 4, "\(asked.doubts)")
    #expect(try heads(scene) == 4)
    let questions = "SELECT operation || outcome || http_status FROM attempt WHERE operation = 'verify'"
    #expect(try rows(scene, questions) == [String](repeating: "verifyok200", count: 4))
    #expect(
      try rows(scene, "SELECT finding || confirmation || (digest = remote_digest) FROM receipt WHERE n = 2")
        == [String](repeating: "founddigest1", count: 4))
    #expect(try proof(scene).holds)
    #expect(try rows(scene, "SELECT how FROM engine_run ORDER BY id DESC LIMIT 1") == ["done"])
  }

  @Test func whatIsGoneOrAnotherIsAViolation() throws {
    let scene = try scene()
    #expect(unlink("\(scene.root)/kept/up/f0") == 0)
    try Scene.write(Array("kontent 1".utf8), to: NameBytes("\(scene.root)/kept/up/f1"))
    try Scene.write(Array("longer than it was".utf8), to: NameBytes("\(scene.root)/kept/up/f2"))
    let asked = try ask(scene)
    #expect(asked.outcomes == [.absent: 1, .different: 2] && asked.proven == [.digest: 1], "\(asked.doubts)")
    let found = try proof(scene).violations
    #expect(found.map(\.rule) == [.kept, .kept, .kept], "\(found)")
    #expect(
      try rows(scene, "SELECT finding || confirmation FROM receipt WHERE n = 2 ORDER BY finding")
        == ["differsnone", "differsnone", "founddigest", "lostnone"])
  }

  /// A lost file that is sent again is not lost any more, and the version that it replaced is not queried.
  @Test func whatWasSentAgainIsNotLostAnyMore() throws {
    let scene = try scene(files: 2)
    #expect(unlink("\(scene.root)/kept/up/f0") == 0)
    #expect(try ask(scene).outcomes == [.absent: 1])
    try Scene.write(Array("content 0, again".utf8), to: NameBytes("\(scene.root)/source/f0"))
    #expect(try scene.push().result.done == 1)
    #expect(try proof(scene).holds)
    let asked = try ask(scene)
    #expect(asked.proven == [.digest: 2] && asked.replaced == 1, "\(asked.doubts)")
  }

  /// Sources are unchanged, and what the destination has of them is not: the next push restores it, once.
  @Test func whatIsGoneOrAnotherIsSentAgain() throws {
    let scene = try scene()
    #expect(unlink("\(scene.root)/kept/up/f0") == 0)
    try Scene.write(Array("kontent 1".utf8), to: NameBytes("\(scene.root)/kept/up/f1"))
    #expect(try ask(scene).outcomes == [.absent: 1, .different: 1])
    let again = try scene.push()
    #expect(again.added.counts.changed == 2 && again.added.counts.unchanged == 2 && again.result.done == 2)
    for n in 0..<2 {
      #expect(try Scene.read(NameBytes("\(scene.root)/kept/up/f\(n)")) == Array("content \(n)".utf8))
    }
    #expect(try ask(scene).proven == [.digest: 4])
    #expect(try proof(scene).holds)
    #expect(try scene.push().added.counts.unchanged == 4)
  }

  /// It was found again since, for example because a server was restored.
  @Test func whatWasFoundAgainIsNotSent() throws {
    let scene = try scene(files: 1)
    #expect(rename("\(scene.root)/kept/up/f0", "\(scene.root)/f0") == 0)
    #expect(try ask(scene).outcomes == [.absent: 1])
    #expect(rename("\(scene.root)/f0", "\(scene.root)/kept/up/f0") == 0)
    #expect(try ask(scene).proven == [.digest: 1])
    #expect(try scene.push().added.counts.unchanged == 1)
  }

  @Test func noPermissionTellsNothing() throws {
    let scene = try scene("match HEAD */f1 : status=403\n")
    let asked = try ask(scene)
    #expect(asked.outcomes == [.inconclusive: 1] && asked.proven == [.digest: 3])
    #expect(!asked.isProven && asked.doubts.first?.detail.contains("403") == true)
    #expect(try rows(scene, "SELECT count(*) || '' FROM receipt WHERE n = 2") == ["3"])
    #expect(try proof(scene).holds)
  }

  @Test func aServerInTroubleIsAskedAgain() throws {
    let scene = try scene("match HEAD */f1 times=2 : status=503\n")
    let asked = try ask(scene)
    #expect(asked.proven == [.digest: 4], "\(asked.doubts)")
    #expect(
      try rows(
        scene,
        """
        SELECT outcome || (backoff_ms IS NOT NULL) FROM attempt JOIN file f ON f.id = file_id
        WHERE operation = 'verify' AND CAST(f.path AS TEXT) LIKE '%/f1' ORDER BY attempt.id
        """) == ["retry1", "retry1", "ok0"])
  }

  @Test func sharesTogetherAreAllFiles() throws {
    let scene = try scene(files: 6)
    var (asked, total): (Int, Int) = (0, 0)
    for number in 1...4 {
      var filter = RowFilter()
      filter.share = FileShare(number, of: 4)
      asked += try ask(scene, filter).asked
      total += try proof(scene, filter).total
    }
    #expect(asked == 6 && total == 6)
    #expect(try rows(scene, "SELECT count(*) || '' FROM receipt WHERE n = 2") == ["6"])
  }

  @Test func anotherEngineIsNamed() throws {
    let scene = try scene()
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    _ = try ledger.startRun(NewRun(argv: [], version: "t", host: "h", bootID: "b", pid: getpid()))
    let error = #expect(throws: TransferError.self) { try ask(scene) }
    #expect(error?.kind == .locked && error?.remedy.contains("transfers wait") == true)
    #expect(try heads(scene) == 0)
  }

  /// The request is durable before it is sent: while the server holds it, its row is open.
  @Test func aStopLeavesTheRestUnasked() throws {
    let scene = try scene("match HEAD *f0 : hold=head\n", files: 1)
    let stop = StopSignal()
    let store = scene.storePath
    let seen = Lock<[String]>([])
    let watcher = scene.whenHeld("head") {
      let open = try? Connection(path: store, access: .readOnly).rowsOnce(
        "SELECT operation FROM attempt WHERE outcome = 'open'"
      ) { $0.text(0) }
      seen.withLock { $0 = open ?? [] }
      stop.stopNow()
    }
    let asked = try ask(scene, stop: stop)
    watcher.join()
    scene.release("head")
    #expect(seen.withLock { $0 } == ["verify"])
    #expect(asked.left == 1 && asked.asked == 0 && !asked.isProven)
    #expect(try rows(scene, "SELECT outcome FROM attempt WHERE operation = 'verify'") == ["interrupted"])
    #expect(try proof(scene).holds)
    #expect(try ask(scene).proven == [.digest: 1])
  }

  /// More files than a window holds.
  @Test func manyFilesAreAskedPageByPage() throws {
    let scene = try scene(files: 700)
    #expect(try ask(scene).proven == [.digest: 700])
    #expect(try heads(scene) == 700)
  }

  @Test func downloadsAreReadHere() throws {
    let scene = try Scene()
    mkdir("\(scene.root)/kept/up", 0o700)
    for n in 0..<2 { try Scene.write(Array("file \(n)".utf8), to: NameBytes("\(scene.root)/kept/up/f\(n)")) }
    var options = DownloadOptions(urls: ["f0", "f1"], folder: NameBytes("\(scene.root)/in"))
    options.baseURL = scene.url + "/up"
    _ = try TransferStore(at: scene.storePath).add(options)
    #expect(try scene.run().done == 2)
    #expect(unlink("\(scene.root)/in/f1") == 0)
    let asked = try ask(scene)
    #expect(asked.provenFiles == 1 && asked.outcomes == [.absent: 1], "\(asked.doubts)")
    #expect(try heads(scene) == 0)
    #expect(try proof(scene).violations.map(\.rule) == [.kept])
  }
}
