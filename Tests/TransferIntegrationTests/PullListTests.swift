import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Many files at once: lists, manifests, several servers, and files that already exist.
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

  /// A body without a length, which is longer than the list says: what is too much is neither stored nor waited for.
  @Test func aBodyWithoutAnEndIsEnded() throws {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    let server = try FixedAnswerServer(head + String(repeating: "x", count: 50_000))
    let outcome = try pull(options("url,size\n\(server.url)/a,1000\n", named: "list.csv"))
    #expect(outcome.result.mismatched == 1 && outcome.result.done == 0, "\(outcome.result)")
    let messages = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT message FROM attempt WHERE error_code IS NOT NULL"
    ) { $0.text(0) }
    #expect(messages == ["the file must have 1000 bytes, but the server sends more"])
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == [])
  }

  /// The content differs, the size differs, or the size is right and the digest is not.
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

  /// A file that has its digest is not requested; one with another digest is replaced only if that is wanted.
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
    #expect(error?.kind == .usage || error?.kind == .badList)
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

  /// A file that was fetched and still exists is left alone, and stays proven; a missing one is fetched again.
  @Test func theSameAgainFetchesOnlyWhatIsMissing() throws {
    let options = try options("a\nb\n", named: "list")
    #expect(try pull(options).result.done == 2)
    #expect(unlink("\(scene.root)/in/b") == 0)
    try Scene.write(Array("mine".utf8), to: NameBytes("\(scene.root)/in/a"))
    let again = try pull(options)
    #expect(again.added.counts.unchanged == 1 && again.result.done == 1 && again.result.failed == 0, "\(again)")
    #expect(try ["a", "b"].map(text) == ["mine", "b"])
    #expect(try requests() == 3)
    let verified = try TransferStore(at: scene.storePath).verify(RowFilter(), .all) { _, _ in }
    #expect(verified.changed == 1 && verified.intact == 1)
  }

  /// Its row waits, and its file already exists: it is not done before the engine says so.
  @Test func whatWaitsIsNotTakenForDone() throws {
    let options = try options("\(digests["a"]!)  a\n", named: "SHA256SUMS")
    _ = try TransferStore(at: scene.storePath).add(options)
    try Scene.write(Array("a".utf8), to: NameBytes("\(scene.root)/in/a"))
    #expect(try TransferStore(at: scene.storePath).add(options).counts.queued == 1)
  }

  /// The last of 2,501 files is to be written by another, waiting download.
  @Test func nothingIsRecordedWhenTheLastIsInTheWay() throws {
    let store = TransferStore(at: scene.storePath)
    _ = try store.add(options("x\ty\n", named: "list"))
    let list = (0..<2_500).map { "f\($0)\n" }.joined() + "y\n"
    #expect(throws: TransferError.self) { try store.plan(options(list, named: "list")) { _ in } }
    #expect(throws: TransferError.self) { try store.add(options(list, named: "list")) }
    let files = try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT count(*) FROM file") {
      $0.int(0)
    }
    #expect(files == [1])
  }

  @Test(arguments: ["%2e%2e/x", "d/%2E/x", "x%00y", "d//x", "x%2Fy"])
  func aURLGivesNoPathThatLeadsElsewhere(_ path: String) throws {
    #expect(throws: TransferError.self) { try pull(options("\(scene.url)/up/\(path)\n", named: "list")) }
    #expect(try rows() == 0)
  }

  @Test(arguments: [true, false]) func theDigestIsKeptToHoweverTheFileIsNamed(_ isPath: Bool) throws {
    var options = DownloadOptions([.url(isPath ? "a" : "\(scene.url)/up/a")], to: NameBytes("\(scene.root)/in"))
    options.baseURL = scene.url + "/up"
    options.digest = Digest(text: "sha256:" + digests["b"]!)
    #expect(try pull(options).result.mismatched == 1)
  }

  /// What waits has to match what is requested now.
  @Test func whatWaitsIsNotTakenForAnotherVersion() throws {
    let store = TransferStore(at: scene.storePath)
    let list = "\(digests["a"]!)  a\n"
    #expect(try store.add(options(list, named: "SHA256SUMS")).counts.added == 1)
    #expect(try store.add(options(list, named: "SHA256SUMS")).counts.queued == 1)
    let other = try options("\(digests["b"]!)  a\n", named: "SHA256SUMS")
    #expect { try store.add(other) } throws: {
      ($0 as? TransferError)?.cause.contains("a different size or digest") == true
    }
  }
}
