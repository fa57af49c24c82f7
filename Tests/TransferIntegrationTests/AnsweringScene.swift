import TransferEngine
import TransferLedger
import TransferModel

@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files on their way to an ``AnsweringServer``.
struct AnsweringScene {
  let scene: Scene

  init() throws { scene = try Scene() }

  /// Writes sources of these sizes, `f0` and so on after those that `first` says are there, adds all and runs.
  func push(
    to server: AnsweringServer, _ scheme: String, _ sizes: [Int], first: Int = 0,
    _ adjust: (inout BatchSettings) throws -> Void = { _ in }
  ) throws {
    for (n, size) in sizes.enumerated() {
      let content = [UInt8](repeating: UInt8(first + n + 1), count: size)
      try Scene.write(content, to: NameBytes("\(scene.root)/source/f\(first + n)"))
    }
    var settings = BatchSettings(destination: "\(scheme)\(server.url)/in/")
    try adjust(&settings)
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    try run()
  }

  /// Fetches a file in ranges of this length.
  func pull(
    _ name: String, from server: AnsweringServer, partSize: Int64, until stop: StopSignal = StopSignal()
  ) throws {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(urls: ["\(server.url)/\(name)"], folder: NameBytes("\(scene.root)/in"))
    options.options["part-size"] = .number(partSize)
    _ = try TransferStore(at: scene.storePath).add(options)
    try run(until: stop)
  }

  private func run(until stop: StopSignal = StopSignal()) throws {
    try withLedger { ledger in
      let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
      var configuration = EngineConfiguration.chosen
      configuration.retry = RetryPolicy(baseMs: 1, throttleBaseMs: 1, capMs: 5)
      let resolver = CurlDestinations()
      defer { resolver.stop() }
      let engine = Engine(
        ledger: ledger, run: run, resolver: resolver, clock: SystemClock(), configuration: configuration,
        observer: EngineObserver(progress: nil, notice: { _ in }))
      _ = try engine.work(until: stop)
    }
  }

  private func withLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    return try body(ledger)
  }

  func files() throws -> [FileRow] {
    try withLedger { try $0.read { try $0.files(RowFilter(), after: 0, limit: 10) } }
  }

  /// How the server confirmed each done file.
  func proofs() throws -> [String] {
    let files = try files()
    return try withLedger { ledger in
      try ledger.read { reader in try files.compactMap { try reader.receipt(of: $0.id)?.confirmation } }
    }
  }

  /// The state of each file, with its cause.
  func states() throws -> [String] {
    try files().map { file in file.cause.map { "\(file.state) \($0)" } ?? "\(file.state)" }
  }

  static func answer(_ status: String, _ fields: [String] = [], body: String = "") -> AnsweringServer.Reaction {
    let text = (["Tus-Resumable: 1.0.0"] + fields).map { "\($0)\r\n" }.joined()
    return .answer(FixedAnswerServer.answer(status, text, body: body))
  }

  /// The answer to the query of what a tus server supports.
  static func tus(_ extensions: String) -> AnsweringServer.Reaction {
    answer("204 No Content", ["Tus-Version: 1.0.0", "Tus-Extension: \(extensions)"])
  }
}
