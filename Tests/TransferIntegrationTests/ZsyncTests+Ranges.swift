import Glibc
import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols
import Transfers

/// Missing ranges that break off, are stopped, or begin too early, and answers to the request for the checksums.
extension ZsyncTests {
  /// `old` was fetched before, and the server has `new` now with these checksums; the third request is the first one
  /// for a missing range.
  private func renewed(_ script: String, _ old: [UInt8], _ new: [UInt8], zsync: [UInt8]? = nil) throws -> Scene {
    let scene = try Scene(script: script)
    try keep(scene, old, age: 7_200)
    #expect(try pull(scene, ["o0"], partSize: nil).result.done == 1)
    try keep(scene, new)
    try keep(scene, zsync ?? ZsyncScene.file(new), as: "o0.zsync")
    return scene
  }

  private static let old = ZsyncScene.random(400_000)
  /// The last 330,000 bytes are others.
  private static let new = Array(old.prefix(70_000)) + ZsyncScene.random(330_000)

  /// More often than requests are repeated after failures: each body brings a part.
  @Test func aRangeMayBreakOffManyTimes() throws {
    let scene = try renewed("match GET /up/o0 nth=3 times=10 : cut-after=30000\n", Self.old, Self.new)
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.retries == 0, "\(told)")
    #expect(told.result.bytesTransferred < 345_000, "\(told.result)")
    #expect(told.result.bytesReused + told.result.bytesAcked == Int64(Self.new.count), "\(told.result)")
    let outcomes = "SELECT outcome || ' ' || count(*) FROM attempt WHERE operation = 'part' AND file_id = 2"
    #expect(try text(scene, outcomes + " GROUP BY outcome ORDER BY 1") == ["ok 1", "retry 10"])
    try expectLocal(scene, Self.new)
  }

  /// All of a range arrived, and then the connection was lost: it is not requested again.
  @Test func aCompleteRangeIsKeptWhateverEndsItsAnswer() throws {
    let script = "match GET /up/o0 nth=3 : chunked cut-after=1000000\n"
    let scene = try renewed(script, Self.old, Self.new)
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.retries == 0, "\(told)")
    let requests = try text(scene, "SELECT count(*) FROM attempt WHERE operation = 'part' AND file_id = 2")
    #expect(requests == ["1"] && told.result.bytesTransferred < 345_000, "\(told.result)")
    #expect(told.result.bytesReused + told.result.bytesAcked == Int64(Self.new.count), "\(told.result)")
    try expectLocal(scene, Self.new)
  }

  /// A server may begin each range earlier than requested: what it sends again is not acknowledged again.
  @Test func earlierBytesDoNotCount() throws {
    var new = Self.old
    for at in [100_000, 200_000, 300_000] { new.replaceSubrange(at..<at + 100, with: ZsyncScene.random(100)) }
    let scene = try renewed("match GET /up/o0 nth=3 times=9 : earlier=30000\n", Self.old, new)
    let told = try again(scene)
    #expect(told.result.done == 1 && told.lines == [], "\(told)")
    #expect(told.result.bytesReused + told.result.bytesAcked == Int64(new.count), "\(told.result)")
    #expect(told.result.bytesTransferred > told.result.bytesAcked + 80_000, "\(told.result)")
    try expectLocal(scene, new)
  }

  /// The run is stopped within a range: what arrived of it is not fetched again.
  @Test func aStoppedRangeIsContinued() throws {
    let scene = try renewed("match GET /up/o0 nth=3 : body-hold=200000,middle\n", Self.old, Self.new)
    try add(scene)
    let stop = Scene.Stop()
    _ = try Scene.run(scene.storePath, stop: stop) { if $0.bytesInFlight >= 150_000 { stop.stopNow() } }
    scene.release("middle")
    #expect(try text(scene, "SELECT state FROM file ORDER BY id DESC LIMIT 1") == ["pending"])
    #expect(try text(scene, "SELECT outcome FROM attempt ORDER BY id DESC LIMIT 1") == ["interrupted"])
    let told = try run(scene)
    #expect(told.result.done == 1 && told.lines == [], "\(told)")
    #expect(told.result.bytesTransferred <= 332_000 - 150_000, "\(told.result)")
    #expect(try requestsOfBlocks(scene) == 1)
    try expectLocal(scene, Self.new)
  }

  /// The copied block before the range is wrong, and the server sends it again: the digest decides, and all of the file
  /// is fetched.
  @Test func aRangeThatBeginsInAWrongBlockDoesNotFailTheFile() throws {
    var new = Self.new
    new.replaceSubrange(55_000..<60_000, with: ZsyncScene.random(5_000))
    let zsync = ZsyncScene.file(Self.new, digest: RunningDigest.of(new, .sha1))
    let scene = try renewed("match GET /up/o0 nth=3 : earlier=20000\n", Self.old, new, zsync: zsync)
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.failed == 0, "\(told)")
    #expect(told.lines.count == 1 && told.lines[0].contains("all of it is fetched again"), "\(told.lines)")
    try expectLocal(scene, new)
  }

  /// The server is busy when the checksums are requested: they are requested once more.
  @Test(arguments: ["status=503 retry-after=1", "status=429", "status=502", "lose-answer"])
  func aBusyServerIsAskedAgain(_ action: String) throws {
    let script = "match GET /up/o0.zsync nth=1 : \(action)\n"
    let scene = try renewed(script, Self.old, Self.new)
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.bytesReused > 60_000 && told.lines == [], "\(told)")
    #expect(try requestsOfBlocks(scene) == 2)
    try expectLocal(scene, Self.new)
  }

  /// The rules of the option hold for the library, too.
  @Test func itIsForFilesThatAreReplacedWithoutAURLCommand() throws {
    let scene = try Scene()
    mkdir("\(scene.root)/in", 0o700)
    for (overwrites, command) in [(false, []), (true, ["true"])] {
      var options = DownloadOptions(urls: [scene.url + "/up/o0"], folder: NameBytes("\(scene.root)/in"))
      (options.overwrites, options.usesZsync, options.urlCommand) = (overwrites, true, command)
      let error = #expect(throws: TransferError.self) { try TransferStore(at: scene.storePath).add(options) }
      #expect(error?.kind == .usage && error?.operation == "read --zsync", "\(String(describing: error))")
    }
  }
}
