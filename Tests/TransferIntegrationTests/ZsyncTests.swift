import Glibc
import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols
import Transfers

@testable import TransferLedger

/// New versions of files whose server publishes `.zsync` files: blocks that the existing file has are not fetched.
@Suite struct ZsyncTests: PullScenes {
  func keep(
    _ scene: Scene, _ bytes: [UInt8], in folder: String = "up", as name: String = "o0", age: Int = 3_600
  ) throws {
    mkdir("\(scene.root)/kept/\(folder)", 0o700)
    try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/\(folder)/\(name)"))
    let then = timeval(tv_sec: time(nil) - age, tv_usec: 0)
    var times = [then, then]
    #expect(utimes("\(scene.root)/kept/\(folder)/\(name)", &times) == 0)
  }

  /// `old` was fetched before, and the server has `new` now, with this `.zsync` file.
  private func replace(
    _ scene: Scene, _ old: [UInt8], by new: [UInt8], zsync: [UInt8]?, partSize: Int64? = nil
  ) throws {
    try keep(scene, old, age: 7_200)
    #expect(try pull(scene, ["o0"], partSize: partSize).result.done == 1)
    try keep(scene, new)
    if let zsync { try keep(scene, zsync, as: "o0.zsync") }
  }

  func add(_ scene: Scene, partSize: Int64? = nil, usesZsync: Bool = true) throws {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(urls: [scene.url + "/up/o0"], folder: NameBytes("\(scene.root)/in"))
    (options.overwrites, options.usesZsync) = (true, usesZsync)
    if let partSize { options.options["part-size"] = .number(partSize) }
    #expect(try TransferStore(at: scene.storePath).add(options).counts.added == 1)
  }

  struct Told {
    var result: RunResult
    var lines: [String]
  }

  func run(_ scene: Scene) throws -> Told {
    let lines = Lock<[String]>([])
    let result = try TransferStore(at: scene.storePath).run(
      RunOptions(argv: ["test"]), progress: { _ in },
      notice: { if case .noted(_, let text) = $0 { lines.withLock { $0.append(text) } } }, stop: Scene.Stop())
    return Told(result: result, lines: lines.withLock { $0 })
  }

  func again(_ scene: Scene, partSize: Int64? = nil, usesZsync: Bool = true) throws -> Told {
    try add(scene, partSize: partSize, usesZsync: usesZsync)
    return try run(scene)
  }

  func expectLocal(_ scene: Scene, _ bytes: [UInt8]) throws {
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o0")) == bytes)
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == ["o0"])
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  func sent(_ scene: Scene, after before: Int) throws -> Int64 {
    try ranges(scene, "o0").dropFirst(before).reduce(0) { $0 + $1.length }
  }

  func text(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  /// Requests for the `.zsync` file, whatever was answered.
  func requestsOfBlocks(_ scene: Scene) throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").filter { event in
      if case .start = event.kind { event.path.description == "up/o0.zsync" } else { false }
    }.count
  }

  // MARK: - Unchanged blocks

  /// A byte before everything else: each block has moved, and only the first ones are fetched.
  @Test func anInsertedByteCostsAFewBlocks() throws {
    let scene = try Scene()
    let old = ZsyncScene.random(20 << 20)
    let new = [7] + old
    try replace(scene, old, by: new, zsync: ZsyncScene.file(new))
    let before = try ranges(scene, "o0").count
    let told = try again(scene)
    #expect(told.result.done == 1 && told.lines == [], "\(told)")
    // The first answer, and the first block of the layout.
    #expect(try sent(scene, after: before) <= 4 * 2_048)
    #expect(told.result.bytesReused >= Int64(new.count) - 4 * 2_048)
    #expect(told.result.bytesReused + told.result.bytesAcked == Int64(new.count))
    try expectLocal(scene, new)
    #expect(
      try text(scene, "SELECT bytes_reused FROM v_files ORDER BY id DESC LIMIT 1") == ["\(told.result.bytesReused)"])
    let receipts = try text(
      scene, "SELECT confirmation || ' ' || substr(digest, 1, 5) FROM receipt ORDER BY file_id DESC LIMIT 1")
    #expect(receipts == ["digest sha1:"])
  }

  /// Edits in several chunks: some are complete, some lack several ranges, and one is not here at all.
  @Test func editsInManyChunksAreFetched() throws {
    let scene = try Scene()
    let old = ZsyncScene.random(1_500_001)
    var new = old
    for at in [100_000, 130_000, 600_000, 1_400_000] {
      new.replaceSubrange(at..<at + 10, with: ZsyncScene.random(10 + at / 100_000))
    }
    new.replaceSubrange(800_000..<1_000_000, with: ZsyncScene.random(200_000))
    try replace(scene, old, by: new, zsync: ZsyncScene.file(new), partSize: 128 << 10)
    let before = try ranges(scene, "o0").count
    let told = try again(scene, partSize: 128 << 10)
    #expect(told.result.done == 1 && told.lines == [], "\(told)")
    let sent = try sent(scene, after: before)
    #expect(sent >= 200_000 && sent < 240_000, "\(sent)")
    #expect(told.result.bytesReused + told.result.bytesAcked == Int64(new.count), "\(told.result)")
    #expect(told.result.bytesTransferred == told.result.bytesAcked)
    try expectLocal(scene, new)
    // Every byte was requested with the version of the first answer.
    #expect(try text(scene, "SELECT DISTINCT outcome FROM attempt") == ["ok"])
  }

  @Test func aTruncatedAndAnExtendedFileAreFetched() throws {
    for (old, new) in [(300_000, 200_000), (200_000, 300_000), (200_000, 5_000)] {
      let scene = try Scene()
      let bytes = ZsyncScene.random(300_000)
      let (old, new) = (Array(bytes.prefix(old)), Array(bytes.prefix(new)))
      try replace(scene, old, by: new, zsync: ZsyncScene.file(new))
      let before = try ranges(scene, "o0").count
      #expect(try again(scene).result.done == 1)
      #expect(try sent(scene, after: before) <= Int64(max(0, new.count - old.count) + 3 * 4_096))
      try expectLocal(scene, new)
    }
  }

  /// A file that this ledger did not fetch is used, too; whether it is one of ours does not matter.
  @Test func anyExistingFileIsUsed() throws {
    let scene = try Scene()
    let new = ZsyncScene.random(500_000)
    try keep(scene, new)
    try keep(scene, ZsyncScene.file(new), as: "o0.zsync")
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(Array(new.dropFirst(5)), to: NameBytes("\(scene.root)/in/o0"))
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.bytesReused > 480_000, "\(told)")
    try expectLocal(scene, new)
  }

  /// Nothing is requested for a file that is new here, or without the option.
  @Test func blocksAreRequestedOnlyWhereTheyHelp() throws {
    let scene = try Scene()
    let new = ZsyncScene.random(100_000)
    try keep(scene, new)
    try keep(scene, ZsyncScene.file(new), as: "o0.zsync")
    #expect(try again(scene).result.bytesReused == 0)
    #expect(try requestsOfBlocks(scene) == 0)
    // The same version is known by its ETag.
    #expect(try again(scene).result.bytesReused == 100_000)
    #expect(try requestsOfBlocks(scene) == 0)
    let newer = [1] + new
    try keep(scene, newer, age: 1_800)
    #expect(try again(scene, usesZsync: false).result.bytesReused == 0)
    #expect(try requestsOfBlocks(scene) == 0)
    try expectLocal(scene, newer)
  }

  // MARK: - Useless and hostile files

  private static let bytes = ZsyncScene.random(300_000)

  private static func header(_ name: String, _ value: String) -> [UInt8] {
    let file = ZsyncScene.file([7] + bytes)
    var lines = String(decoding: file.prefix(400), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    let end = lines.firstIndex(of: "")!
    let length = lines[..<end].joined(separator: "\n").utf8.count
    for n in 0..<end where lines[n].hasPrefix(name + ":") { lines[n] = "\(name): \(value)" }
    return Array(lines[..<end].joined(separator: "\n").utf8) + file.dropFirst(length)
  }

  /// All of the file is fetched, and a line says why.
  @Test(
    arguments: [
      (nil, "the server has none"), ([], "it is not a .zsync file"),
      (Array("<html>no</html>".utf8), "not a .zsync file"),
      (header("Blocksize", "1000000000"), "its Blocksize"), (header("Blocksize", "0"), "its Blocksize"),
      (header("Length", "99999999999"), "more than"), (header("Length", "-1"), "its Length is invalid"),
      (header("Hash-Lengths", "9,9,9"), "its Hash-Lengths"), (header("SHA-1", "../../x"), "no valid SHA-1"),
      (ZsyncScene.file([7] + bytes).dropLast(3), "its table has another length"),
      (ZsyncScene.file(bytes + [1, 2]), "it is for a file of 300002 bytes"),
      ([UInt8](repeating: 0x7A, count: 2_000_000), "it is too long"),
      (ZsyncScene.file(ZsyncScene.random(300_001)), "the existing file has no block of it"),
    ] as [([UInt8]?, String)]) func uselessFilesAreToldAndLeft(_ zsync: [UInt8]?, _ why: String) throws
  {
    let scene = try Scene()
    let new = [7] + Self.bytes
    try replace(scene, Self.bytes, by: new, zsync: zsync)
    let before = try ranges(scene, "o0").count
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.failed == 0 && told.result.bytesReused == 0, "\(told)")
    #expect(told.lines.count == 1 && told.lines[0].contains(why) && told.lines[0].contains("is fetched"), "\(told)")
    #expect(try sent(scene, after: before) == Int64(new.count))
    #expect(try requestsOfBlocks(scene) == 1)
    try expectLocal(scene, new)
  }

  /// What may be answered later is requested twice.
  @Test(arguments: [
    ("status=403", true), ("redirect=http://127.0.0.1:1/x", true), ("status=500", false), ("cut-after=100", false),
    ("lose-answer", false), ("garbage", false), ("status=503", false), ("status=502 retry-after=3600", true),
  ])
  func refusalsAreToldAndLeft(_ action: String, isFinal: Bool) throws {
    let scene = try Scene(script: "match GET /up/o0.zsync : \(action)\n")
    let new = [7] + Self.bytes
    try replace(scene, Self.bytes, by: new, zsync: ZsyncScene.file(new))
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.bytesReused == 0 && told.lines.count == 1, "\(told)")
    #expect(try requestsOfBlocks(scene) == (isFinal ? 1 : 2))
    try expectLocal(scene, new)
  }

  /// The same with the address of another host.
  private static func elsewhere(_ zsync: [UInt8]) -> [UInt8] {
    let field = Array("URL: o0".utf8)
    let at = zsync.indices.first { zsync[$0...].starts(with: field) }!
    return zsync[..<at] + Array("URL: http://169.254.169.254/o0".utf8) + zsync[(at + field.count)...]
  }

  /// The names and addresses in it lead nowhere.
  @Test func namesAndAddressesAreIgnored() throws {
    let scene = try Scene()
    let new = [7] + Self.bytes
    try replace(scene, Self.bytes, by: new, zsync: Self.header("Filename", "../../../etc/passwd"))
    #expect(try again(scene).result.bytesReused > 280_000)
    try expectLocal(scene, new)
    let newer = [8] + new
    try keep(scene, newer, age: 1_800)
    try keep(scene, Self.elsewhere(ZsyncScene.file(newer)), as: "o0.zsync")
    #expect(try again(scene).result.bytesReused > 280_000)
    try expectLocal(scene, newer)
  }

  // MARK: - Wrong checksums

  /// The checksums are those of the old version, and the digest is that of another file: what was copied is fetched.
  @Test func copiedBlocksThatAreWrongAreFetched() throws {
    let scene = try Scene()
    let old = ZsyncScene.random(300_000)
    var new = old
    new.replaceSubrange(100_000..<200_000, with: ZsyncScene.random(100_000))
    try replace(scene, old, by: new, zsync: ZsyncScene.file(old))
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.failed == 0, "\(told)")
    #expect(told.lines.count == 1 && told.lines[0].contains("all of it is fetched again"), "\(told.lines)")
    #expect(try requestsOfBlocks(scene) == 1)
    try expectLocal(scene, new)
    #expect(try text(scene, "SELECT bytes_reused FROM v_files ORDER BY id DESC LIMIT 1") == ["0"])
  }

  /// Only the table is wrong: the digest is that of the new version.
  @Test func wrongChecksumsNeverMakeAWrongFile() throws {
    let scene = try Scene()
    let old = ZsyncScene.random(300_000)
    let new = Array(old.prefix(150_000)) + ZsyncScene.random(150_000)
    let zsync = ZsyncScene.file(old, digest: RunningDigest.of(new, .sha1))
    try replace(scene, old, by: new, zsync: zsync)
    #expect(try again(scene).result.done == 1)
    try expectLocal(scene, new)
  }

  /// The checksums are still those of the old version, which has the same length, and the server tells no digest.
  @Test func checksumsOfAnotherVersionAreNotUsed() throws {
    let scene = try Scene(script: "match * * : omit=Repr-Digest\n")
    let old = ZsyncScene.random(300_000)
    let new = Array(old.prefix(100_000)) + ZsyncScene.random(200_000)
    try replace(scene, old, by: new, zsync: ZsyncScene.file(old, modified: time(nil) - 7_200))
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.bytesReused == 0, "\(told)")
    #expect(told.lines.count == 1 && told.lines[0].contains("belongs to this version"), "\(told.lines)")
    try expectLocal(scene, new)
  }

  /// The same time of change binds them to the version; the digest in them then decides.
  @Test(arguments: [true, false]) func theTimeOfChangeBindsThem(_ isRight: Bool) throws {
    let scene = try Scene(script: "match * * : omit=Repr-Digest\n")
    let old = ZsyncScene.random(300_000)
    let new = Array(old.prefix(100_000)) + ZsyncScene.random(200_000)
    try replace(scene, old, by: new, zsync: nil)
    var entry = stat()
    #expect(stat("\(scene.root)/kept/up/o0", &entry) == 0)
    let modified = Int(entry.st_mtim.tv_sec)
    let zsync = ZsyncScene.file(isRight ? new : old, digest: RunningDigest.of(new, .sha1), modified: modified)
    try keep(scene, zsync, as: "o0.zsync")
    let told = try again(scene)
    #expect(told.result.done == 1 && told.lines.count == (isRight ? 0 : 1), "\(told)")
    if isRight { #expect(told.result.bytesReused > 90_000) }
    try expectLocal(scene, new)
    // Nothing but the table itself says that it describes this version.
    let proofs = try text(scene, "SELECT confirmation FROM receipt ORDER BY file_id DESC LIMIT 1")
    #expect(proofs == ["size"])
  }

  // MARK: - Interruptions

  /// The run ends while ranges are missing: the next one fetches only those, without comparing again.
  @Test func aLaterRunContinues() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=5 : hold=middle\n")
    let old = ZsyncScene.random(400_000)
    var new = old
    for at in [50_000, 100_000, 200_000, 300_000] { new.replaceSubrange(at..<at + 100, with: ZsyncScene.random(100)) }
    try keep(scene, old, age: 7_200)
    // One request, so that the held one is in the middle of the second pull.
    #expect(try pull(scene, ["o0"], partSize: nil).result.done == 1)
    try keep(scene, new)
    try keep(scene, ZsyncScene.file(new), as: "o0.zsync")
    try add(scene)
    let stop = Scene.Stop()
    let stopping = scene.whenHeld("middle") { stop.stopNow() }
    _ = try Scene.run(scene.storePath, stop: stop)
    stopping.join()
    scene.release("middle")
    #expect(try text(scene, "SELECT state FROM file ORDER BY id DESC LIMIT 1") == ["pending"])
    let before = try ranges(scene, "o0").count
    let told = try run(scene)
    #expect(told.result.done == 1 && told.lines == [], "\(told)")
    #expect(try sent(scene, after: before) <= 3 * 8_192)
    #expect(try requestsOfBlocks(scene) == 1)
    try expectLocal(scene, new)
  }

  /// A range ends early: what arrived of it is kept.
  @Test func aBrokenRangeContinues() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 : cut-after=30000\n")
    let old = ZsyncScene.random(400_000)
    var new = old
    new.replaceSubrange(100_000..<200_000, with: ZsyncScene.random(100_000))
    try keep(scene, old, age: 7_200)
    #expect(try pull(scene, ["o0"], partSize: nil).result.done == 1)
    try keep(scene, new)
    try keep(scene, ZsyncScene.file(new), as: "o0.zsync")
    let told = try again(scene)
    #expect(told.result.done == 1 && told.result.retries == 0, "\(told)")
    #expect(told.result.bytesTransferred < 120_000, "\(told.result)")
    try expectLocal(scene, new)
  }

  /// The server has a third version when the missing ranges are requested: no byte of the second one stays.
  @Test func aVersionThatChangesMeanwhileIsFetchedAnew() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 : hold=change\n")
    let old = ZsyncScene.random(300_000)
    let new = Array(old.prefix(100_000)) + [1] + old.dropFirst(100_000)
    let newest = Array(old.prefix(100_000)) + [1, 2] + old.dropFirst(100_000)
    try keep(scene, old, age: 7_200)
    #expect(try pull(scene, ["o0"], partSize: nil).result.done == 1)
    try keep(scene, new)
    try keep(scene, ZsyncScene.file(new), as: "o0.zsync")
    let changing = scene.whenHeld("change") { [root = scene.root, server = scene.server] in
      try? Scene.write(newest, to: NameBytes("\(root)/kept/up/o0"))
      server.release("change")
    }
    #expect(try again(scene).result.done == 1)
    changing.join()
    try expectLocal(scene, newest)
  }
}
