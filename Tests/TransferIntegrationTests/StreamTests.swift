import Receiver
import Testing
import TransferModel
import TransferProtocols

@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files that are passed on in order as they arrive: what is read from the descriptor, and what the receiver is asked.
@Suite struct StreamTests: PullScenes {
  private func streaming(_ urls: [String], _ change: (inout DownloadOptions) -> Void = { _ in }) throws -> Streaming {
    var options = DownloadOptions(urls: urls, folder: NameBytes("-"))
    options.options["part-size"] = .number(64 << 10)
    change(&options)
    return try Streaming(options, rate: nil) { _ in }
  }

  /// Streams into a file and returns its content.
  private func stream(
    _ scene: Scene, _ change: (inout DownloadOptions) -> Void = { _ in }
  ) throws -> (result: StreamResult, bytes: [UInt8]) {
    let path = "\(scene.root)/out"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let result = try streaming([scene.url + "/up/o0"], change).file(to: descriptor)
    return (result, try Scene.read(NameBytes(path)))
  }

  @Test(arguments: [0, 1, 65_536, 65_537, 500_000], ["", "match * * : ignore-range\n", "match * * : weak-etag\n"])
  func theFileComesInOrder(_ size: Int, _ script: String) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [size])
    let (result, bytes) = try stream(scene)
    #expect(result.failure == nil && result.files == 1 && result.bytes == size)
    #expect(size == 0 || result.proof?.confirmation == .digest)
    #expect(bytes == objects["o0"])
    #expect(try scene.mostAtOnce("up") == 1)
  }

  /// A range that is the whole file has the digests of the whole file.
  @Test func aDigestBesideAPartThatIsAllIsCompared() throws {
    let scene = try Scene(script: "match GET * : omit=Repr-Digest field=Content-MD5:AAAAAAAAAAAAAAAAAAAAAA==\n")
    _ = try objects(scene, [1_000])
    #expect(try stream(scene).result.failure?.failure.code == .integrityMismatch)
  }

  /// Each byte is written once, and each body resumes where the previous one broke off.
  @Test func brokenBodiesGoOn() throws {
    let scene = try Scene(
      script:
        "match GET * nth=1 : cut-after=10000\nmatch GET * every=2 : cut-after=20000\nmatch GET * nth=5 : status=503\n")
    let objects = try objects(scene, [300_000])
    let (result, bytes) = try stream(scene)
    #expect(result.failure == nil && bytes == objects["o0"])
    // A connection that is reset may lose bytes that were sent but not read.
    let ranges = try ranges(scene, "o0")
    #expect(ranges.count > 7 && zip(ranges, ranges.dropFirst()).allSatisfy { $0.offset <= $1.offset })
  }

  /// A server that gives hardly anything of each range has failed; the fortieth answer is a complete one.
  @Test func aByteOfEachRangeIsNoProgress() throws {
    let scene = try Scene(script: "match GET * times=40 : cut-after=1\n")
    let objects = try objects(scene, [500_000])
    let path = "\(scene.root)/out"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    var streaming = try streaming([scene.url + "/up/o0"])
    streaming.policy = RetryPolicy(baseMs: 0)
    let result = try streaming.file(to: descriptor)
    let code = result.failure?.failure.code
    #expect(code == .protoBadReply || code == .netReset, "\(result)")
    // A connection that was cut may have delivered a request twice.
    #expect(try ranges(scene, "o0").count <= 2 * RetryPolicy.standard.maxAttempts)
    let bytes = try Scene.read(NameBytes(path))
    #expect(bytes == Array(objects["o0"]?.prefix(bytes.count) ?? []))
  }

  /// Nothing of another version follows what was written; as long as nothing was written, the new version is used.
  @Test func versionsAreNotMixed() throws {
    let scene = try Scene(script: "match GET * nth=4 times=99 : version=7\n")
    let objects = try objects(scene, [400_000])
    let (result, bytes) = try stream(scene)
    #expect(result.failure?.failure.code == .sourceChanged && result.files == 0)
    #expect(
      bytes.count == result.failure.map { Int($0.written) } && bytes == Array(objects["o0"]?.prefix(bytes.count) ?? []))
    #expect(bytes.count == 3 * 65_536)
  }

  /// If the server has no validator, a partly written file cannot be continued.
  @Test(arguments: ["ignore-range", "ignore-range no-length"]) func aBodyInOnePieceIsNotContinued(_ kind: String) throws
  {
    let scene = try Scene(script: "match GET * : \(kind) cut-after=100000\n")
    let objects = try objects(scene, [300_000])
    let (result, bytes) = try stream(scene)
    #expect(result.failure != nil && result.files == 0)
    if kind == "ignore-range" {
      #expect(result.failure?.failure.code == .netReset)
      #expect(result.failure?.failure.message.contains("cannot send only the rest") == true)
    }
    #expect(bytes == Array(objects["o0"]?.prefix(bytes.count) ?? []) && bytes.count <= 100_000)
    #expect(try ranges(scene, "o0").count == 1)
  }

  @Test(arguments: [DigestAlgorithm.sha256, .md5, .crc32c]) func digestsAreJudgedAtTheEnd(_ algorithm: DigestAlgorithm)
    throws
  {
    let scene = try Scene(script: "match * * : omit=Repr-Digest\n")
    let objects = try objects(scene, [200_000])
    let right = RunningDigest.of(objects["o0"] ?? [], algorithm)
    let (good, _) = try stream(scene) { $0.digest = right }
    #expect(good.failure == nil && good.proof?.confirmation == .digest)
    let (bad, bytes) = try stream(scene) { $0.digest = RunningDigest.of([1], algorithm) }
    #expect(bad.failure?.failure.code == .integrityMismatch && bytes == objects["o0"])
  }

  @Test func aWrongDigestOfTheServerIsSeen() throws {
    let scene = try Scene(script: "match * * : wrong-digest\n")
    _ = try objects(scene, [200_000])
    #expect(try stream(scene).result.failure?.failure.code == .integrityMismatch)
  }

  @Test func nothingIsWrittenOfARefusal() throws {
    for script in ["match * * : status=404\n", "match * * : field=\"Content-Encoding: gzip\"\n"] {
      let scene = try Scene(script: script)
      _ = try objects(scene, [200_000])
      let (result, bytes) = try stream(scene)
      #expect(result.failure != nil && bytes.isEmpty)
    }
  }

  @Test func aReaderThatIsGoneEndsIt() throws {
    let scene = try Scene()
    _ = try objects(scene, [2 << 20])
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let result = try streaming([scene.url + "/up/o0"]).file(to: ends[1])
    #expect(result.failure?.isClosedReader == true && result.failure?.operation == .write)
    let reset = Failure(.netReset, "the connection was reset", systemError: EPIPE)
    #expect(!StreamFailure(operation: .fetch, path: NameBytes("a"), failure: reset).isClosedReader)
    #expect(try ranges(scene, "o0").count <= 2)
  }

  // MARK: - Archives

  private func archive(_ scene: Scene, _ list: String, _ change: (inout DownloadOptions) -> Void = { _ in }) throws
    -> StreamResult
  {
    try Scene.write(Array(list.utf8), to: NameBytes("\(scene.root)/list"))
    var options = DownloadOptions([.list(DownloadList(path: NameBytes("\(scene.root)/list")))], to: NameBytes("-"))
    options.options["part-size"] = .number(64 << 10)
    change(&options)
    return try Streaming(options, rate: nil) { _ in }.archive(at: NameBytes("\(scene.root)/all.tar"), overwrites: false)
  }

  private func names(_ scene: Scene) throws -> [String] {
    try Scene.names(in: scene.root, hidden: true).filter { $0.contains("all.tar") }
  }

  /// As read by the system's `tar`; even if the first answers are of no use.
  @Test(arguments: ["", "match * * : weak-etag\n", "match GET * every=2 : reset-after=0\n"])
  func anArchiveHoldsAllFiles(_ script: String) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [0, 1, 512, 100_000])
    let names = ["a", "d/b b", "d/" + String(repeating: "x", count: 150), "\u{e9}-c"]
    let list = names.enumerated().map { "\(scene.url)/up/o\($0)\t\($1)\n" }.joined()
    let result = try archive(scene, list)
    #expect(result.failure == nil && result.files == 4)
    #expect(try self.names(scene) == ["all.tar"])
    mkdir("\(scene.root)/x", 0o700)
    #expect(try run(["tar", "-xf", "\(scene.root)/all.tar", "-C", "\(scene.root)/x"]) == 0)
    for (number, name) in names.enumerated() {
      #expect(try Scene.read(NameBytes("\(scene.root)/x/\(name)")) == objects["o\(number)"], "\(name)")
    }
  }

  /// If one file cannot be fetched, or its length is unknown, there is no archive.
  @Test(arguments: ["match GET /up/o1 : status=404\n", "match GET /up/o1 : ignore-range chunked\n"])
  func anArchiveIsWholeOrNotThere(_ script: String) throws {
    let scene = try Scene(script: script)
    _ = try objects(scene, [1_000, 1_000])
    let result = try archive(scene, "\(scene.url)/up/o0\n\(scene.url)/up/o1\n")
    #expect(result.failure?.path == NameBytes("o1"))
    #expect(try names(scene) == [])
  }

  /// Whatever was written before, and wherever it broke off, no reader accepts it as an archive.
  @Test(arguments: [
    "match GET /up/o0 : status=404\n", "match GET /up/o1 : status=404\n", "match GET /up/o1 : wrong-digest\n",
    "match GET /up/o1 : ignore-range cut-after=512\n", "match GET /up/o1 : ignore-range cut-after=700\n",
  ])
  func anArchiveThatBreaksOffIsNone(_ script: String) throws {
    let scene = try Scene(script: script)
    _ = try objects(scene, [1_024, 1_000])
    let path = "\(scene.root)/piped.tar"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let result = try streaming(["o0", "o1"].map { "\(scene.url)/up/\($0)" }).archive(to: descriptor)
    #expect(result.failure?.operation == .fetch && result.failure?.path.bytes.isEmpty == false)
    #expect(try run(["tar", "-tf", path]) == 2 << 8)
  }

  /// The first answer described a file that has changed since: it is empty now.
  @Test func theHeadIsThatOfTheVersionThatCame() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=1 : reset-after=0\nmatch GET /up/o0 nth=2 : hold=second\n")
    let objects = try objects(scene, [1_000, 1_000])
    let change = scene.whenHeld("second") { [root = scene.root, server = scene.server] in
      truncate("\(root)/kept/up/o0", 0)
      server.release("second")
    }
    let result = try archive(scene, "\(scene.url)/up/o0\n\(scene.url)/up/o1\n")
    change.join()
    #expect(result.failure == nil && result.files == 2 && result.bytes == 1_000, "\(result)")
    mkdir("\(scene.root)/x", 0o700)
    #expect(try run(["tar", "-xf", "\(scene.root)/all.tar", "-C", "\(scene.root)/x"]) == 0)
    #expect(try Scene.read(NameBytes("\(scene.root)/x/o0")).isEmpty)
    #expect(try Scene.read(NameBytes("\(scene.root)/x/o1")) == objects["o1"])
  }

  @Test func anArchiveReplacesNothing() throws {
    let scene = try Scene()
    _ = try objects(scene, [1_000])
    try Scene.write([7], to: NameBytes("\(scene.root)/all.tar"))
    let result = try archive(scene, "\(scene.url)/up/o0\n")
    #expect(result.failure?.failure.code == .policyExists)
    #expect(try Scene.read(NameBytes("\(scene.root)/all.tar")) == [7])
    #expect(try names(scene) == ["all.tar"])
  }

  private func run(_ words: [String]) throws -> Int32 {
    var pid = pid_t()
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    guard posix_spawnp(&pid, words[0], nil, nil, arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    return status
  }
}
