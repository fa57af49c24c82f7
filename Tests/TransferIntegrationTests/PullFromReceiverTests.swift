import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads from the bundled receiver: real ledger, real libcurl, real sockets, real files.
@Suite struct PullFromReceiverTests {
  private func pull(
    _ scene: Scene, _ names: [String], overwrites: Bool = false, partSize: Int64? = 64 << 10
  ) throws -> Scene.Outcome {
    let added = try add(scene, names, overwrites: overwrites, partSize: partSize)
    return Scene.Outcome(added: added, result: try scene.run())
  }

  private func add(
    _ scene: Scene, _ names: [String], overwrites: Bool = false, partSize: Int64? = 64 << 10
  ) throws -> AddResult {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(
      urls: names.map { scene.url + "/up/" + $0 }, folder: NameBytes("\(scene.root)/in"))
    options.overwrites = overwrites
    if let partSize { options.options["part-size"] = .number(partSize) }
    return try TransferStore(at: scene.storePath).add(options)
  }

  /// Objects at the receiver, by name.
  private func objects(_ scene: Scene, _ sizes: [Int]) throws -> [String: [UInt8]] {
    mkdir("\(scene.root)/kept/up", 0o700)
    var generator = SystemRandomNumberGenerator()
    var all: [String: [UInt8]] = [:]
    for (n, size) in sizes.enumerated() {
      let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      all["o\(n)"] = bytes
      try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/up/o\(n)"))
    }
    return all
  }

  private func expectSame(_ scene: Scene, _ objects: [String: [UInt8]]) throws {
    for (name, bytes) in objects {
      #expect(try Scene.read(NameBytes("\(scene.root)/in/\(name)")) == bytes, "\(name)")
    }
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == objects.keys.sorted())
  }

  /// The ranges that the receiver sent of an object, in order.
  private func ranges(_ scene: Scene, _ name: String) throws -> [ByteRange] {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").compactMap { event in
      guard event.path.description == "up/\(name)", case .content(let range) = event.kind else { return nil }
      return range
    }
  }

  private func cause(_ scene: Scene) throws -> String? {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT cause FROM file") { $0.text(0) }.first
  }

  @Test func filesOfAllSizesComeWhole() throws {
    let scene = try Scene()
    let objects = try objects(scene, [0, 1, 65_535, 65_536, 65_537, 500_000])
    let outcome = try pull(scene, objects.keys.sorted())
    #expect(outcome.result.done == objects.count, "\(outcome.result)")
    try expectSame(scene, objects)
    #expect(outcome.result.bytesTransferred == objects.values.reduce(0) { $0 + Int64($1.count) })
  }

  @Test func eachByteIsSentOnce() throws {
    let scene = try Scene()
    let objects = try objects(scene, [400_000])
    #expect(try pull(scene, ["o0"]).result.done == 1)
    try expectSame(scene, objects)
    let ranges = try ranges(scene, "o0").sorted { $0.offset < $1.offset }
    #expect(ranges.count == 7)
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.end == $1.offset })
    #expect(ranges.first?.offset == 0 && ranges.last?.end == 400_000)
  }

  /// Bodies that break off are continued where they ended.
  @Test func whatCameOfABrokenBodyIsKept() throws {
    let scene = try Scene(script: "match GET * nth=1 times=3 : cut-after=20000\n")
    let objects = try objects(scene, [300_000])
    let outcome = try pull(scene, ["o0"], partSize: 1 << 20)
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").map(\.offset) == [0, 20_000, 40_000, 60_000])
  }

  @Test(arguments: [
    "match GET * every=3 : status=503\n", "match GET * every=4 : reset-after=1000\n",
    "match GET * every=5 : lose-answer\n", "match HEAD * nth=1 : status=500\n",
  ])
  func transientFailuresAreRetried(_ script: String) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [300_000, 10, 65_536])
    let outcome = try pull(scene, objects.keys.sorted())
    #expect(outcome.result.done == 3, "\(outcome.result)")
    try expectSame(scene, objects)
    let faults = try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count {
      if case .fault = $0.kind { true } else { false }
    }
    #expect(faults > 0)
  }

  /// The object is another one from the fourth answer on: nothing of the first version is in the file.
  @Test func aVersionThatChangesInTheMiddleIsFetchedAnew() throws {
    let scene = try Scene(script: "match * * nth=4 times=1000 : version=7\n")
    var objects = try objects(scene, [400_000])
    let outcome = try pull(scene, ["o0"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    let came = try Scene.read(NameBytes("\(scene.root)/in/o0"))
    #expect(came != objects["o0"] && came.count == 400_000)
    #expect(zip(came, objects["o0"] ?? []).allSatisfy { $0 != $1 })
    objects["o0"] = came
    try expectSame(scene, objects)
  }

  /// Answers that are no content of the range that was asked for: nothing is under the name.
  @Test(arguments: [
    ("match GET * : content-range=\"bytes 0-9/400000\"\n", ErrorCode.protoBadReply),
    ("match GET * : ignore-range\n", .protoUnsupported), ("match * * : wrong-digest\n", .integrityMismatch),
    ("match HEAD * : no-length\n", .protoUnsupported), ("match * * : status=404\n", .http404),
  ])
  func whatIsNotTheFileIsNotTaken(_ script: String, _ code: ErrorCode) throws {
    let scene = try Scene(script: script)
    _ = try objects(scene, [400_000])
    let outcome = try pull(scene, ["o0"])
    #expect(outcome.result.failed == 1, "\(outcome.result)")
    #expect(try cause(scene) == code.rawValue)
    _ = try scene.run()
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true).isEmpty)
  }

  /// Servers on which ranges of one version cannot be relied on: one body.
  @Test(arguments: [
    "match * * : weak-etag\n", "match * * : omit=ETag\n", "match * * : omit=Accept-Ranges\n",
    "match GET * : chunked\n",
  ])
  func plainServersSendOneBody(_ script: String) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [200_000])
    #expect(try pull(scene, ["o0"], partSize: 1 << 20).result.done == 1)
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0") == [ByteRange(offset: 0, length: 200_000)])
  }

  @Test func whatIsThereIsReplacedOnlyWhenAsked() throws {
    let scene = try Scene()
    let objects = try objects(scene, [1_000])
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(Array("mine".utf8), to: NameBytes("\(scene.root)/in/o0"))
    #expect(try pull(scene, ["o0"]).result.failed == 1)
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o0")) == Array("mine".utf8))
    #expect(try ranges(scene, "o0").isEmpty)
    #expect(try pull(scene, ["o0"], overwrites: true).result.done == 1)
    _ = try scene.run()
    try expectSame(scene, objects)
  }

  @Test func wrongInputRecordsNothing() throws {
    let scene = try Scene()
    for name in ["", "a?token=x", "..", "a/../b", "a#b", "a%2Fb"] {
      #expect(throws: TransferError.self, "\(name)") { try add(scene, [name]) }
    }
    #expect(throws: TransferError.self) { try add(scene, ["a/x", "b/x"]) }
    #expect(try rows(scene) == 0)
    let list = try add(scene, ["a", "a"])
    #expect(list.counts.added == 1 && list.counts.repeated == 1)
  }

  @Test func whatFailedIsTakenUpOnceHoweverOftenItIsNamed() throws {
    let scene = try Scene()
    #expect(try pull(scene, ["a"]).result.failed == 1)
    let again = try add(scene, ["a", "a"])
    #expect(again.counts.requeued == 1 && again.counts.repeated == 1 && again.counts.added == 0, "\(again.counts)")
    #expect(try rows(scene) == 1)
  }

  /// Another download has written the file since.
  @Test func whatFailedGoesOnWhereAnotherDownloadHadTheName() throws {
    let scene = try Scene()
    mkdir("\(scene.root)/kept/up", 0o700)
    mkdir("\(scene.root)/kept/up/y", 0o700)
    try Scene.write([1, 2, 3], to: NameBytes("\(scene.root)/kept/up/y/o"))
    #expect(try pull(scene, ["x/o"]).result.failed == 1)
    #expect(try pull(scene, ["y/o"]).result.done == 1)
    let again = try pull(scene, ["x/o"])
    #expect(again.added.counts.requeued == 1 && again.result.failed == 1, "\(again.result)")
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o")) == [1, 2, 3])
  }

  private func rows(_ scene: Scene) throws -> Int {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT count(*) FROM file") { $0.int(0) }[0]
  }
}
