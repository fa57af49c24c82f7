import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Many files at once: lists, manifests, several servers; what stands in its place already.
@Suite struct PullListTests {
  private let scene: Scene
  private let digests = [
    // printf a | sha256sum, and so on.
    "a": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    "b": "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
  ]

  init() throws {
    scene = try Scene()
    mkdir("\(scene.root)/kept/up", 0o700)
    mkdir("\(scene.root)/kept/up/d e", 0o700)
    for name in ["a", "b", "d e/a"] {
      try Scene.write(Array(name.utf8.suffix(1)), to: NameBytes("\(scene.root)/kept/up/\(name)"))
    }
  }

  private func options(_ list: String, named name: String, overwrites: Bool = false) throws -> DownloadOptions {
    try Scene.write(Array(list.utf8), to: NameBytes("\(scene.root)/\(name)"))
    let list = DownloadList(path: NameBytes("\(scene.root)/\(name)"))
    var options = DownloadOptions([.list(list)], to: NameBytes("\(scene.root)/in"))
    options.baseURL = scene.url + "/up"
    options.overwrites = overwrites
    return options
  }

  private func pull(_ options: DownloadOptions) throws -> Scene.Outcome {
    let added = try TransferStore(at: scene.storePath).add(options)
    return Scene.Outcome(added: added, result: try scene.run())
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Scene.read(NameBytes("\(scene.root)/in/\(name)")), as: UTF8.self)
  }

  private func rows() throws -> Int {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT count(*) FROM batch") { $0.int(0) }[0]
  }

  private func requests() throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count {
      if case .start = $0.kind { true } else { false }
    }
  }

  @Test func aChecksumFileBringsItsFilesToTheirPaths() throws {
    let list = "\(digests["a"]!)  a\n\(digests["a"]!) *d e/a\n\(digests["b"]!)  b\n"
    let outcome = try pull(options(list, named: "SHA256SUMS"))
    #expect(outcome.result.done == 3, "\(outcome.result)")
    #expect(try ["a", "b", "d e/a"].map(text) == ["a", "b", "a"])
  }

  /// The content, the size, and a size that is right beside a digest that is not.
  @Test(arguments: ["url,sha256\nURL,DIGEST\n", "url,size\nURL,2\n", "url,size,sha256\nURL,1,DIGEST\n"])
  func whatIsNotWhatTheListSaysGetsNoName(_ table: String) throws {
    let list = table.replacing("URL", with: "\(scene.url)/up/a").replacing("DIGEST", with: digests["b"]!)
    let outcome = try pull(options(list, named: "list.csv"))
    #expect(outcome.result.mismatched == 1 && outcome.result.done == 0, "\(outcome.result)")
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == [])
  }

  @Test func theReceiptNamesTheDigestThatWasExpected() throws {
    #expect(try pull(options("\(digests["a"]!)  a\n", named: "SHA256SUMS")).result.done == 1)
    let receipts = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT confirmation || ' ' || digest FROM receipt"
    ) { $0.text(0) }
    #expect(receipts == ["digest sha256:\(digests["a"]!)"])
  }

  /// What has its digest is not asked for; what has another one is not replaced unless that is wanted.
  @Test func whatStandsThereWithItsDigestIsNotFetched() throws {
    let list = "\(digests["a"]!)  a\n\(digests["b"]!)  b\n"
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(Array("a".utf8), to: NameBytes("\(scene.root)/in/a"))
    try Scene.write(Array("x".utf8), to: NameBytes("\(scene.root)/in/b"))
    let first = try pull(options(list, named: "SHA256SUMS"))
    #expect(first.added.counts.unchanged == 1 && first.result.failed == 1, "\(first)")
    #expect(try text("b") == "x")
    let second = try pull(options(list, named: "SHA256SUMS", overwrites: true))
    #expect(second.result.done == 1, "\(second.result)")
    #expect(try text("b") == "b")
    let before = try requests()
    let third = try pull(options(list, named: "SHA256SUMS"))
    #expect(third.added.counts.unchanged == 2 && third.added.counts.added == 0)
    #expect(try requests() == before)
  }

  @Test func eachServerHasABatch() throws {
    let other = try Scene()
    mkdir("\(other.root)/kept/up", 0o700)
    try Scene.write(Array("c".utf8), to: NameBytes("\(other.root)/kept/up/c"))
    var options = try options("\(scene.url)/up/a\n\(other.url)/up/c\tother/c\n", named: "list")
    options.name = "nightly"
    let outcome = try pull(options)
    #expect(outcome.result.done == 2, "\(outcome.result)")
    #expect(try ["a", "other/c"].map(text) == ["a", "c"])
    let names = try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT name FROM batch") {
      $0.text(0)
    }
    #expect(names == [scene.url, other.url].map { "nightly@" + $0.dropFirst("http://".count) })
    options.auth = "bearer=env:NONE"
    #expect(throws: TransferError.self) { try TransferStore(at: scene.storePath).add(options) }
  }

  /// The last line is wrong: nothing of the list is recorded.
  @Test(arguments: ["a\n../b\n", "a\nhttp://h/x?token=1\n", "a\nb\ta\n", "a\nb\ta/b\n"])
  func nothingIsRecordedOfAListThatIsWrong(_ list: String) throws {
    let error = #expect(throws: TransferError.self) { try pull(options(list, named: "list")) }
    #expect(error?.kind == .usage)
    #expect(try rows() == 0)
  }

  @Test func aPathNeedsABase() throws {
    var options = try options("a\n", named: "list")
    options.baseURL = nil
    #expect { try pull(options) } throws: { ($0 as? TransferError)?.remedy.contains("--base-url") == true }
  }

  @Test func theFilesOfABagComeIntoIt() throws {
    let bag = "\(scene.root)/bag"
    mkdir(bag, 0o700)
    try Scene.write(Array("\(scene.url)/up/a 1 data/x/a\n".utf8), to: NameBytes(bag + "/fetch.txt"))
    try Scene.write(Array("\(digests["a"]!)  data/x/a\n".utf8), to: NameBytes(bag + "/manifest-sha256.txt"))
    let list = DownloadList(path: NameBytes(bag))
    let outcome = try pull(DownloadOptions([.list(list)], to: NameBytes(bag)))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    #expect(try Scene.read(NameBytes(bag + "/data/x/a")) == Array("a".utf8))
  }

  @Test func thePlanSaysWhatWouldBeFetchedAndWritesNothing() throws {
    let options = try options("\(digests["a"]!)  a\n\(digests["b"]!)  b\n", named: "SHA256SUMS")
    let store = TransferStore(at: scene.storePath)
    #expect(try store.plan(options) { _ in }.counts.added == 2)
    #expect(try rows() == 0 && access("\(scene.root)/in", F_OK) != 0)
    #expect(try pull(options).result.done == 2)
    #expect(try store.plan(options) { _ in }.counts.unchanged == 2)
    #expect(try requests() == 2)
  }

  /// What waits has to be what is asked for now.
  @Test func whatWaitsIsNotTakenForAnotherVersion() throws {
    let store = TransferStore(at: scene.storePath)
    let list = "\(digests["a"]!)  a\n"
    #expect(try store.add(options(list, named: "SHA256SUMS")).counts.added == 1)
    #expect(try store.add(options(list, named: "SHA256SUMS")).counts.queued == 1)
    let other = try options("\(digests["b"]!)  a\n", named: "SHA256SUMS")
    #expect { try store.add(other) } throws: {
      ($0 as? TransferError)?.cause.contains("another size or digest") == true
    }
  }
}
