import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// A server that gives one answer to all requests: it is tried a few times, its files wait, and one error says why.
@Suite struct RefusedDestinationTests {
  struct Case: Sendable, CustomStringConvertible {
    var destination: String
    var answer: String
    var kind: TransferError.Kind
    var description: String { "\(destination) \(answer.prefix(60))" }
  }

  private static func s3(_ status: String, _ code: String, _ kind: TransferError.Kind) -> Case {
    let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>no</Message></Error>"
    return Case(destination: "s3://bucket/in/", answer: FixedAnswerServer.answer(status, body: body), kind: kind)
  }

  static let cases: [Case] =
    [
      s3("404 Not Found", "NoSuchBucket", .config), s3("403 Forbidden", "SignatureDoesNotMatch", .auth),
      s3("403 Forbidden", "InvalidAccessKeyId", .auth), s3("404 Not Found", "InvalidAccessKeyId", .auth),
      s3("400 Bad Request", "ExpiredToken", .auth),
    ]
    + ["", "dav+", "post+", "form+", "tus+", "resumable+"].map {
      Case(destination: $0, answer: FixedAnswerServer.answer("401 Unauthorized"), kind: .auth)
    }

  /// A proxy gives this answer to requests for http.
  static let proxied: [Case] = ["s3://bucket/in/", "", "dav+", "post+", "form+", "tus+", "resumable+"].map {
    Case(destination: $0, answer: FixedAnswerServer.answer("407 Proxy Authentication Required"), kind: .auth)
  }

  @Test(arguments: cases + proxied)
  func theServerIsAskedAFewTimesAndTheFilesWait(_ refused: Case) throws {
    let scene = try RefusedScene(refused.destination, answer: refused.answer)
    try scene.add(count: 300)
    let summary = try scene.run()
    #expect(summary.blocked.values.map(\.kind) == [refused.kind])
    #expect(summary.failed == 0 && summary.done == 0 && summary.left == 300)
    #expect(scene.server.requests <= 40, "of 300 files")
    #expect(try scene.states() == ["pending"])
    #expect(try scene.failures() == 0, "no file has used up an attempt")
  }

  /// A pull neither sends there nor has a destination that a person could create.
  @Test func aBucketToFetchFromThatIsMissingIsNamedAsSuch() throws {
    let missing = Self.s3("404 Not Found", "NoSuchBucket", .config)
    let scene = try RefusedScene(missing.destination, answer: missing.answer)
    try scene.addDownload("s3://bucket/in/")
    let error = try scene.run().blocked.values.first
    #expect(error?.kind == .config && error?.operation == "fetch from", "\(String(describing: error))")
    #expect(error?.remedy.hasPrefix("correct the URL") == true, "\(String(describing: error))")
  }

  /// The proxy is not the destination: the error names it, and no host counts as unreachable.
  @Test(arguments: [407, 403]) func aProxyThatRefusesIsAskedAFewTimesAndNamed(_ status: Int) async {
    await #expect(processExitsWith: .success) { [status] in
      let answer = FixedAnswerServer.answer("\(status) No")
      let scene = try RefusedScene("", answer: answer, host: "https://up.example")
      setenv("https_proxy", scene.server.url, 1)
      try scene.add(count: 100)
      let summary = try scene.run()
      let error = summary.blocked.values.first
      guard error?.kind == .auth, error?.cause.hasPrefix("the proxy") == true,
        error?.remedy.contains("https_proxy") == true, summary.failed == 0, summary.left == 100,
        (1...40).contains(scene.server.requests), try scene.failures() == 0
      else { throw Scene.Broken(what: "\(scene.server.requests) requests: \(summary)") }
    }
  }

  /// Files that were held back resume as soon as the cause is gone.
  @Test(arguments: ["s3://bucket/in/", "", "post+"])
  func theyGoOnWhenTheReasonIsGone(_ destination: String) throws {
    let scene = try RefusedScene(destination, answer: FixedAnswerServer.answer("401 Unauthorized"))
    try scene.add(count: 30)
    _ = try scene.run()
    scene.server.setAnswer(FixedAnswerServer.answer("200 OK", "ETag: \"abc\"\r\n"))
    let summary = try scene.run()
    #expect(summary.done == 30)
    #expect(summary.blocked.isEmpty)
  }

  /// The secret in a file was replaced during the run.
  @Test func aTokenThatWasReplacedIsReadAgain() throws {
    let scene = try RefusedScene("", answer: FixedAnswerServer.answer("401 Unauthorized"))
    scene.credentials.onRefresh { [server = scene.server] in
      server.setAnswer(FixedAnswerServer.answer("200 OK", "ETag: \"abc\"\r\n"))
    }
    try scene.add(count: 60)
    let summary = try scene.run()
    #expect(summary.done == 60)
    #expect(scene.credentials.refreshes == 1)
  }

  /// Two files are refused, all others are accepted: those two fail, after one more attempt each. Enough others follow
  /// for some of them to be accepted between the two attempts.
  @Test func aFileThatIsRefusedAloneFails() throws {
    let scene = try Scene(script: "match PUT /up/f3 : status=401\nmatch PUT /up/f7 : status=401\n")
    let files = try scene.makeTree(seed: 5, count: 80)
    let result = try scene.push().result
    #expect(result.failed == 2)
    #expect(result.done == files.count - 2)
    #expect(result.blocked.isEmpty)
  }

  /// Both are refused twice before the server has answered for another file: the destination works all the same.
  @Test func filesThatAreUnderWayCountForTheDestination() throws {
    let refused = ["f1", "f3"].map {
      "match PUT /up/\($0) nth=1 : status=401\nmatch PUT /up/\($0) : hold=again status=401\n"
    }
    let scene = try Scene(script: refused.joined() + "match PUT * : hold=others\n")
    let files = try scene.makeTree(seed: 5, count: 4)
    let release = scene.whenHeld("again") { [server = scene.server] in
      server.release("again")
      server.release("others")
    }
    let result = try scene.push().result
    release.join()
    #expect(result.failed == 2 && result.done == files.count - 2)
    #expect(result.blocked.isEmpty)
  }
}

/// A folder of small files, a server with one answer, and an engine with short waits.
final class RefusedScene {
  let scene: Scene
  let server: FixedAnswerServer
  let credentials = CountedCredentials()
  private let destination: String
  private let host: String

  /// `host` is the origin of the destination, if that is not the server itself.
  init(_ destination: String, answer: String, first: String? = nil, host: String? = nil) throws {
    self.destination = destination
    scene = try Scene()
    server = try FixedAnswerServer(answer, first: first)
    self.host = host ?? server.url
  }

  func add(count: Int) throws {
    for n in 0..<count { try Scene.write([UInt8(n % 251), 2, 3], to: NameBytes("\(scene.root)/source/f\(n)")) }
    let isS3 = destination.hasPrefix("s3:")
    let settings = BatchSettings(
      destination: isS3 ? destination : "\(destination)\(host)/in/",
      options: isS3 ? ["endpoint-url": .text(server.url), "region": "us-east-1"] : [:])
    let options = UploadOptions(settings: settings)
    _ = try TransferStore(at: scene.storePath).add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
  }

  func addDownload(_ url: String) throws {
    var options = DownloadOptions([.url(url)], to: NameBytes("\(scene.root)/in"))
    options.options = ["endpoint-url": .text(server.url), "region": "us-east-1"]
    _ = try TransferStore(at: scene.storePath).add(options, notice: { _ in })
  }

  func run() throws -> RunResult {
    try withLedger { ledger in
      let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
      var configuration = EngineConfiguration.chosen
      configuration.retry = RetryPolicy(baseMs: 1, throttleBaseMs: 1, capMs: 5)
      let resolver = ResolverWithCredentials(credentials)
      defer { resolver.stop() }
      let engine = Engine(
        ledger: ledger, run: run, resolver: resolver, clock: SystemClock(), configuration: configuration,
        observer: EngineObserver(progress: nil, notice: { _ in }))
      return try engine.work(until: StopSignal())
    }
  }

  func states() throws -> Set<String> {
    try withLedger { try $0.read { Set(try $0.files(RowFilter(), after: 0, limit: 1_000).map { "\($0.state)" }) } }
  }

  func causes() throws -> Set<String?> {
    try withLedger { try $0.read { Set(try $0.files(RowFilter(), after: 0, limit: 1_000).map(\.cause)) } }
  }

  func failures() throws -> Int64 {
    try withLedger { ledger in
      try ledger.read { reader in
        var sum: Int64 = 0
        let sql = "SELECT coalesce(sum(failures), 0) FROM file"
        try reader.query(sql, within: SQLBudget(timeMs: nil), columns: { _ in }) { row in
          if case .integer(let number)? = row.first { sum = number }
          return true
        }
        return sum
      }
    }
  }

  private func withLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    return try body(ledger)
  }
}

/// Keys for any destination, and a count of how often they were read again.
final class CountedCredentials: CredentialSource {
  private let state = Lock<(count: Int, then: @Sendable () -> Void)>((0, {}))
  var refreshes: Int { state.withLock { $0.count } }

  func onRefresh(_ then: @escaping @Sendable () -> Void) { state.withLock { $0.then = then } }
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? { .bearer(token: "t") }
  func refresh() {
    let then = state.withLock { state in
      state.count += 1
      return state.then
    }
    then()
  }
  var label: String { "test" }
}

/// libcurl, with other credentials.
private final class ResolverWithCredentials: DestinationResolver {
  private let inner = CurlDestinations()
  private let credentials: CountedCredentials

  init(_ credentials: CountedCredentials) { self.credentials = credentials }

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    var resolved = try inner.resolve(settings)
    resolved.credentials =
      settings.destination.hasPrefix("s3:") ? KeyPair(counted: credentials) : credentials
    return resolved
  }

  func stop() { inner.stop() }
}

private final class KeyPair: CredentialSource {
  let counted: CountedCredentials

  init(counted: CountedCredentials) { self.counted = counted }
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    .aws(accessKey: "AKIDEXAMPLE", secretKey: "secret", sessionToken: nil)
  }
  func refresh() { counted.refresh() }
  var label: String { "test keys" }
}
