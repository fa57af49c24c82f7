import Glibc
import Receiver
import Testing
import TransferModel
import TransferTestSupport
import Transfers

@testable import TransferEngine

/// What a refused or lost `.zsync` file means for its host and for other files, by what the server received.
extension ZsyncTests {
  private static let size = 40_000

  /// These files were fetched before, and the server has a new version of each with its checksums; they are to be
  /// fetched again, in this order.
  private func renewed(
    _ script: String, _ names: [String], bearerToken: String? = nil, auth: String? = nil, size: Int = size
  ) throws -> Scene {
    let scene = try Scene(script: script, bearerToken: bearerToken)
    mkdir("\(scene.root)/in", 0o700)
    for name in names {
      let old = ZsyncScene.random(size)
      try Scene.write(old, to: NameBytes("\(scene.root)/in/\(name)"))
      let new = [1] + old
      try keep(scene, new, as: name)
      try keep(scene, ZsyncScene.file(new), as: "\(name).zsync")
    }
    var options = DownloadOptions(
      urls: names.map { scene.url + "/up/" + $0 }, folder: NameBytes("\(scene.root)/in"))
    (options.overwrites, options.usesZsync, options.auth) = (true, true, auth)
    #expect(try TransferStore(at: scene.storePath).add(options).counts.added == names.count)
    return scene
  }

  private func requested(_ scene: Scene) throws -> [String] {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").compactMap { event in
      if case .start = event.kind { String(event.path.description.dropFirst(3)) } else { nil }
    }
  }

  private func count(_ scene: Scene, _ ending: String) throws -> Int {
    try requested(scene).count { $0.hasSuffix(ending) }
  }

  private static let names = (10..<30).map { "f\($0)" }
  /// More than the 64 requests that are begun ahead, and the eight that are refused before.
  private static let many = (100..<180).map { "f\($0)" }

  /// Each file is done, with the new content.
  private func expectAll(_ scene: Scene, _ names: [String]) throws {
    for name in names {
      let kept = try Scene.read(NameBytes("\(scene.root)/kept/up/\(name)"))
      #expect(try Scene.read(NameBytes("\(scene.root)/in/\(name)")) == kept, "\(name)")
    }
  }

  /// The pause is that of the host, like that of any other answer: nothing is requested before its end.
  @Test(arguments: ["nth=1 : status=503 retry-after=3600", "nth=1 : status=429 retry-after=3600"])
  func aLongPauseIsKept(_ fault: String) throws {
    let clock = MovableClock()
    let scene = try renewed("match GET /up/f0.zsync \(fault)\n", ["f0"])
    for _ in 0..<2 {
      let result = try scene.work(with: Interposed(), clock: clock)
      #expect(result.done == 0 && result.stoppedBy == .notDue, "\(result)")
      #expect(try requested(scene) == ["f0", "f0.zsync"])
      clock.advance(ms: 45 * 60_000 / 2)
    }
    clock.advance(ms: 40 * 60_000)
    let result = try scene.work(with: Interposed(), clock: clock)
    #expect(result.done == 1 && result.bytesReused > 30_000, "\(result)")
    #expect(try count(scene, ".zsync") == 2)
    try expectAll(scene, ["f0"])
  }

  /// The second answer asks for the pause.
  @Test func theSecondAnswerPausesTheHostToo() throws {
    let clock = MovableClock()
    let script = "match GET /up/f0.zsync nth=1 : status=503\nmatch GET /up/f0.zsync : status=503 retry-after=3600\n"
    let scene = try renewed(script, ["f0"])
    let result = try scene.work(with: Interposed(), clock: clock)
    #expect(result.done == 0 && result.stoppedBy == .notDue, "\(result)")
    #expect(try requested(scene) == ["f0", "f0.zsync", "f0.zsync"])
    clock.advance(ms: 70 * 60_000)
    #expect(try scene.work(with: Interposed(), clock: clock).done == 1)
    #expect(try count(scene, ".zsync") == 2)
    try expectAll(scene, ["f0"])
  }

  /// A server that has no such file refuses some, and then this run requests no more.
  @Test(arguments: ["status=404", "status=403"])
  func aServerWithoutThemIsAskedAFewTimes(_ action: String) throws {
    let scene = try renewed("match GET *.zsync : \(action)\n", Self.many)
    let told = Lock<[Notice]>([])
    let result = try scene.work(with: Interposed(), told: told)
    #expect(result.done == Self.many.count, "\(result)")
    let tables = try count(scene, ".zsync")
    #expect(tables >= 8 && tables < Self.many.count, "\(tables)")
    let lines = told.withLock { $0.compactMap { if case .noted(_, let text) = $0 { text } else { nil } } }
    #expect(lines.count == tables && lines.count { $0.contains("this run requests no more") } == 1, "\(lines)")
    try expectAll(scene, Self.many)
  }

  /// Where some files have checksums, the others do not end that.
  @Test func oneThatIsSentMakesUpForRefusals() throws {
    let script = Self.names.dropFirst(1).filter { !$0.hasSuffix("5") && !$0.hasSuffix("0") }
      .map { "match GET /up/\($0).zsync : status=404\n" }.joined()
    let scene = try renewed(script, Self.names)
    #expect(try scene.work(with: Interposed()).done == Self.names.count)
    #expect(try count(scene, ".zsync") == Self.names.count)
    try expectAll(scene, Self.names)
  }

  /// A server that cannot send these files is neither paused nor asked for each of them, and the files are fetched.
  @Test(arguments: ["status=503", "status=504", "status=500"])
  func aServerThatFailsOnlyForThemIsNotHeldBack(_ action: String) throws {
    let scene = try renewed("match GET *.zsync : \(action)\n", Self.many)
    let result = try scene.work(with: Interposed(), workers: 4)
    #expect(result.done == Self.many.count && result.failed == 0, "\(result)")
    // Those that were begun before the first was refused twice.
    let tables = try count(scene, ".zsync")
    #expect(tables < 2 * Self.many.count, "\(tables)")
    #expect(try text(scene, "SELECT count(*) FROM attempt WHERE backoff_ms > 0") == ["0"])
    try expectAll(scene, Self.many)
  }

  /// A credential that has expired since the first answer is obtained again, once.
  @Test func aRefusedCredentialIsObtainedAgain() throws {
    let path = "\(temporaryRoot)/zsync-token-\(getpid())"
    try Scene.write(Array("right".utf8), to: NameBytes(path))
    defer { unlink(path) }
    let scene = try renewed(
      "match GET /up/f0.zsync nth=1 : status=401\n", ["f0"], bearerToken: "right", auth: "bearer=file:\(path)")
    let told = try run(scene)
    #expect(told.result.done == 1 && told.result.bytesReused > 30_000 && told.lines == [], "\(told)")
    #expect(try requested(scene).prefix(3) == ["f0", "f0.zsync", "f0.zsync"])
    try expectAll(scene, ["f0"])
  }

  /// Objects of a bucket have their checksums beside them, under a key of their own.
  @Test func objectsOfABucketAreCompared() throws {
    let scene = try Scene()
    for folder in ["in", "kept/bucket"] { mkdir("\(scene.root)/\(folder)", 0o700) }
    let old = ZsyncScene.random(Self.size)
    let new = [1] + old
    try Scene.write(old, to: NameBytes("\(scene.root)/in/o"))
    try keep(scene, new, in: "bucket", as: "o")
    try keep(scene, ZsyncScene.file(new), in: "bucket", as: "o.zsync")
    var download = DownloadOptions(urls: ["s3://bucket/o"], folder: NameBytes("\(scene.root)/in"))
    (download.overwrites, download.usesZsync) = (true, true)
    download.options = ["endpoint-url": .text(scene.url), "region": .text("us-east-1")]
    #expect(try TransferStore(at: scene.storePath).add(download).counts.added == 1)
    let result = try scene.work(with: Interposed())
    #expect(result.done == 1 && result.bytesReused > 30_000, "\(result)")
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o")) == new)
  }
}
