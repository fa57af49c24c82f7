import Receiver
import Testing
import TransferModel
import TransferProtocols
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads from the bundled receiver: real ledger, real libcurl, real sockets, real files.
@Suite struct PullFromReceiverTests: PullScenes {
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

  /// Bodies that break off are resumed where they ended.
  @Test func whatCameOfABrokenBodyIsKept() throws {
    let scene = try Scene(script: "match GET * nth=1 times=3 : cut-after=20000\n")
    let objects = try objects(scene, [300_000])
    let outcome = try pull(scene, ["o0"], partSize: 1 << 20)
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").map(\.offset) == [0, 20_000, 40_000, 60_000])
    #expect(try requests(scene) == 4)
  }

  @Test(arguments: [
    "match GET * every=3 : status=503\n", "match GET * every=4 : reset-after=1000\n",
    "match GET * every=5 : lose-answer\n", "match GET * nth=1 : status=500\n",
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

  /// The object changes with the fourth answer: the file contains nothing of the first version.
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

  /// Answers that are not the content of the requested range: no file gets the name, and no partial file is left.
  @Test(arguments: [
    ("match GET * nth=2 times=99 : content-range=\"bytes 0-9/400000\"\n", ErrorCode.protoBadReply),
    ("match GET * nth=2 times=99 : field=\"Content-Type: multipart/byteranges\" omit=Content-Range\n", .protoBadReply),
    ("match GET * : field=\"Content-Encoding: gzip\"\n", .protoBadReply),
    ("match * * : wrong-digest\n", .integrityMismatch),
    ("match * * : field=\"x-goog-hash: md5=AAAAAAAAAAAAAAAAAAAAAA==\" omit=Repr-Digest\n", .integrityMismatch),
    ("match * * : status=404\n", .http404), ("match * * : status=410\n", .http410),
    ("match * * : status=403\n", .http403), ("match * * : status=501\n", .http5xx),
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

  /// A file of one range takes one request, whatever the server answers to HEAD.
  @Test(arguments: ["", "match HEAD * : status=403\n", "match HEAD * : omit=Content-Length,ETag,Last-Modified\n"])
  func aSmallFileTakesOneRequest(_ script: String) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [0, 1, 65_535, 65_536])
    #expect(try pull(scene, objects.keys.sorted()).result.done == 4)
    try expectSame(scene, objects)
    #expect(try requests(scene) == 4)
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

  /// Another download has written the file in the meantime.
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
}
