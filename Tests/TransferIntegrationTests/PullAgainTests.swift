import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols

@testable import TransferLedger
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files that were fetched before and are fetched again: what is already here is not transferred.
@Suite struct PullAgainTests: PullScenes {
  /// Objects that are this old have validators that distinguish them from all others.
  func age(_ scene: Scene, _ name: String, seconds: Int = 3_600) {
    let then = timeval(tv_sec: time(nil) - seconds, tv_usec: 0)
    var times = [then, then]
    #expect(utimes("\(scene.root)/kept/up/\(name)", &times) == 0)
  }

  func local(_ scene: Scene, _ name: String = "o0") -> NameBytes { NameBytes("\(scene.root)/in/\(name)") }

  func status(_ path: NameBytes) -> stat {
    var found = stat()
    #expect(stat(path.description, &found) == 0)
    return found
  }

  /// Fetched once, from objects that are an hour old.
  func fetched(_ scene: Scene, _ sizes: [Int], partSize: Int64? = 64 << 10) throws -> [String: [UInt8]] {
    let objects = try objects(scene, sizes)
    for name in objects.keys { age(scene, name) }
    #expect(try pull(scene, objects.keys.sorted(), partSize: partSize).result.done == sizes.count)
    return objects
  }

  func again(_ scene: Scene, _ names: [String] = ["o0"]) throws -> Scene.Outcome {
    try pull(scene, names, overwrites: true)
  }

  /// The bytes of an object that the receiver sent after its first `before` ranges.
  func sent(_ scene: Scene, _ name: String = "o0", after before: Int) throws -> Int64 {
    try ranges(scene, name).dropFirst(before).reduce(0) { $0 + $1.length }
  }

  func texts(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  func expectSound(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  // MARK: - Whole files

  @Test func whatHasNotChangedIsAskedForAndNotFetched() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [1, 400_000])
    let ranges = try objects.keys.map { try self.ranges(scene, $0).count }.reduce(0, +)
    let before = status(local(scene, "o1"))
    let requests = try requests(scene)
    let outcome = try again(scene, objects.keys.sorted())
    #expect(outcome.added.counts.added == 2 && outcome.result.done == 2, "\(outcome.result)")
    #expect(outcome.result.bytesTransferred == 0 && outcome.result.bytesReused == 400_001)
    #expect(try objects.keys.map { try self.ranges(scene, $0).count }.reduce(0, +) == ranges)
    #expect(try self.requests(scene) == requests + 2)
    let after = status(local(scene, "o1"))
    #expect(after.st_ino == before.st_ino && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
    try expectSame(scene, objects)
    // Confirmed as before, by a new answer.
    #expect(
      try texts(
        scene,
        "SELECT DISTINCT r.confirmation || ' ' || r.digest || ' ' || f.key FROM receipt r JOIN file f ON f.id = r.file_id"
      ).count == 2)
    #expect(
      try texts(
        scene, "SELECT DISTINCT http_status FROM attempt a JOIN file f ON f.id = a.file_id WHERE f.generation = 2") == [
          "304"
        ])
    try expectSound(scene)
    #expect(try again(scene, objects.keys.sorted()).result.bytesTransferred == 0)
  }

  /// The answer about it (416) has no validator, and brings nothing that needs a partial file.
  @Test func anEmptyFileIsFetchedAgain() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [0])
    #expect(try again(scene).result.done == 1)
    try expectSame(scene, objects)
    try expectSound(scene)
  }

  /// Without an ETag, a date that is old enough is used.
  @Test func aDateIsAskedByToo() throws {
    let scene = try Scene(script: "match * * : omit=ETag\n")
    let objects = try fetched(scene, [300_000])
    let outcome = try again(scene)
    #expect(outcome.result.bytesReused == 300_000 && outcome.result.bytesTransferred == 0, "\(outcome.result)")
    try expectSame(scene, objects)
  }

  /// An older file took its place, and the server compares for "not later" without naming the date of its file.
  @Test func aDateThatIsNotNamedProvesNothing() throws {
    let scene = try Scene(script: "match * * nth=1 times=5 : omit=ETag\nmatch * * : omit=ETag,Last-Modified\n")
    _ = try fetched(scene, [300_000])
    let objects = try objects(scene, [300_000])
    age(scene, "o0", seconds: 7_200)
    #expect(try again(scene).result.bytesReused == 0)
    try expectSame(scene, objects)
  }

  @Test func aNewVersionIsFetched() throws {
    let scene = try Scene()
    _ = try fetched(scene, [300_000])
    let before = try ranges(scene, "o0").count
    let objects = try objects(scene, [300_000])
    age(scene, "o0", seconds: 1_800)
    #expect(try again(scene).result.bytesReused == 0)
    #expect(try sent(scene, after: before) == 300_000)
    try expectSame(scene, objects)
  }

  /// A weak ETag, the ETag of a file that had just changed, a date that could belong to two versions: all is fetched.
  @Test(arguments: ["weak-etag omit=Repr-Digest", "omit=ETag,Last-Modified,Repr-Digest", ""])
  func whatCouldBeAnotherVersionIsFetched(_ action: String) throws {
    let scene = try Scene(script: action.isEmpty ? "" : "match * * : \(action)\n")
    let objects = try objects(scene, [300_000])
    if !action.isEmpty { age(scene, "o0") }
    _ = try pull(scene, ["o0"])
    let before = try ranges(scene, "o0").count
    let outcome = try again(scene)
    #expect(outcome.result.done == 1 && outcome.result.bytesReused == 0, "\(outcome.result)")
    #expect(try sent(scene, after: before) >= 300_000)
    #expect(try texts(scene, "SELECT id FROM attempt WHERE http_status = 304").isEmpty)
    try expectSame(scene, objects)
  }

  /// Somebody changed only the owner or the times: the content shows that the file is the same.
  @Test func aFileThatWasTouchedIsReadAndNotFetched() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [300_000])
    #expect(chmod(local(scene).description, 0o600) == 0)
    let before = status(local(scene))
    let outcome = try again(scene)
    #expect(outcome.result.bytesTransferred == 0 && outcome.result.bytesReused == 300_000, "\(outcome.result)")
    #expect(status(local(scene)).st_ino == before.st_ino)
    try expectSame(scene, objects)
  }

  // MARK: - Parts of files

  func spoil(_ scene: Scene, at offset: Int, _ count: Int = 1) throws {
    let descriptor = open(local(scene).description, O_WRONLY)
    defer { close(descriptor) }
    #expect(pwrite(descriptor, [UInt8](repeating: 0x55, count: count), count, off_t(offset)) == count)
  }

  /// Chunks 1 and 4 of seven are spoiled; the server sends only these two.
  @Test func onlyWrongChunksAreFetched() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [400_000])
    try spoil(scene, at: 70_000, 300)
    try spoil(scene, at: 300_000, 300)
    let before = try ranges(scene, "o0").count
    let outcome = try again(scene)
    #expect(outcome.result.done == 1 && outcome.result.bytesReused == 400_000 - 131_072, "\(outcome.result)")
    #expect(try Set(ranges(scene, "o0").dropFirst(before).map(\.offset)) == [65_536, 262_144])
    #expect(try sent(scene, after: before) == 131_072)
    try expectSame(scene, objects)
    #expect(try texts(scene, "SELECT seq FROM chunk WHERE reused = length ORDER BY seq") == ["0", "2", "3", "5", "6"])
    try expectSound(scene)
  }

  /// The end of the file was changed by a user, or is missing.
  @Test(arguments: [100_000, 0, 500_000]) func aFileOfAnotherLengthIsMended(_ length: Int) throws {
    let scene = try Scene()
    let objects = try fetched(scene, [400_000])
    #expect(truncate(local(scene).description, off_t(length)) == 0)
    let before = try ranges(scene, "o0").count
    #expect(try again(scene).result.done == 1)
    let kept = min(length, 400_000)
    let whole = kept == 400_000 ? 400_000 : kept / 65_536 * 65_536
    #expect(try sent(scene, after: before) == Int64(400_000 - whole))
    try expectSame(scene, objects)
  }

  @Test func aRepairFetchesOnlyWrongChunks() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [400_000])
    // Like a decaying disk: only the bytes show it.
    let times = status(local(scene))
    try spoil(scene, at: 200_000, 10)
    var both = [times.st_atim, times.st_mtim]
    #expect(utimensat(AT_FDCWD, local(scene).description, &both, 0) == 0)
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    let before = try ranges(scene, "o0").count
    #expect(try scene.run().done == 1)
    #expect(try sent(scene, after: before) == 65_536)
    try expectSame(scene, objects)
    #expect(try store.verify(RowFilter(), .all) { _, _ in }.intact == 1)
  }

  /// The server does not know conditions: its answer shows that it still has the version.
  @Test func aServerThatIgnoresTheConditionSendsOneChunk() throws {
    let scene = try Scene(script: "match GET * : ignore-condition\n")
    let objects = try fetched(scene, [400_000])
    let before = try ranges(scene, "o0").count
    #expect(try again(scene).result.bytesReused == 400_000 - 65_536)
    #expect(try sent(scene, after: before) == 65_536)
    try expectSame(scene, objects)
  }

  /// The object changes after the server said that it had not: the file contains nothing of the old version.
  @Test func aVersionThatChangesDuringTheRepairIsFetchedWhole() throws {
    let scene = try Scene(script: "match GET * nth=9 times=1000 : version=7\n")
    var objects = try fetched(scene, [400_000])
    try spoil(scene, at: 70_000)
    try spoil(scene, at: 300_000)
    #expect(try again(scene).result.done == 1)
    let came = try Scene.read(local(scene))
    #expect(zip(came, objects["o0"] ?? []).allSatisfy { $0 != $1 } && came.count == 400_000)
    objects["o0"] = came
    try expectSame(scene, objects)
    try expectSound(scene)
  }

  // MARK: - Answers that say nothing

  /// A 304 without a condition, or for another version.
  @Test func aNotModifiedThatProvesNothingIsNotBelieved() throws {
    let unasked = try Scene(script: "match GET * : status=304\n")
    _ = try objects(unasked, [10])
    #expect(try pull(unasked, ["o0"]).result.failed == 1)
    #expect(try cause(unasked) == ErrorCode.protoBadReply.rawValue)
    let message = try texts(unasked, "SELECT message FROM file")[0]
    #expect(message.contains("304") && !message.contains("destination"), "\(message)")

    let scene = try Scene(script: "match GET * nth=6 times=1 : status=304 field=\"ETag: \\\"another\\\"\"\n")
    let objects = try fetched(scene, [300_000])
    let before = try ranges(scene, "o0").count
    #expect(try again(scene).result.done == 1)
    #expect(try sent(scene, after: before) == 65_536)
    try expectSame(scene, objects)
  }
}
