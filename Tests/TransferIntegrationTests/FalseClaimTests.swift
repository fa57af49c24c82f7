import Testing
import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

@testable import Transfers

/// A server confirms what it cannot have: nothing of that becomes `done`.
@Suite struct FalseClaimTests {
  private let scene: Scene

  init() throws { scene = try Scene() }

  private func push(_ server: AnsweringServer, _ sizes: [Int], to scheme: String) throws {
    for (n, size) in sizes.enumerated() {
      let content = [UInt8](repeating: UInt8(n + 1), count: size)
      try Scene.write(content, to: NameBytes("\(scene.root)/source/f\(n)"))
    }
    let options = UploadOptions(settings: BatchSettings(destination: "\(scheme)\(server.url)/in/"))
    _ = try TransferStore(at: scene.storePath).add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
    try withLedger { ledger in
      let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
      var configuration = EngineConfiguration.chosen
      configuration.retry = RetryPolicy(baseMs: 1, throttleBaseMs: 1, capMs: 5)
      let resolver = CurlDestinations()
      defer { resolver.stop() }
      let engine = Engine(
        ledger: ledger, run: run, resolver: resolver, clock: SystemClock(), configuration: configuration,
        observer: EngineObserver(progress: nil, notice: { _ in }))
      _ = try engine.work(until: StopSignal())
    }
  }

  private func withLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    return try body(ledger)
  }

  private func files() throws -> [FileRow] {
    try withLedger { try $0.read { try $0.files(RowFilter(), after: 0, limit: 10) } }
  }

  private static func answer(_ status: String, _ fields: [String]) -> AnsweringServer.Reaction {
    let text = (["Tus-Resumable: 1.0.0"] + fields).map { "\($0)\r\n" }.joined()
    return .answer(FixedAnswerServer.answer(status, text))
  }

  /// It takes the beginning of each body, hangs up, and then claims the whole file.
  @Test func whatWasNeverSentIsNotDone() throws {
    let size = 24 << 20
    let server = try AnsweringServer { request in
      switch request.method {
      case "OPTIONS": Self.answer("204 No Content", ["Tus-Version: 1.0.0", "Tus-Extension: creation,termination"])
      case "POST": Self.answer("201 Created", ["Location: /up/1"])
      case "HEAD": Self.answer("200 OK", ["Upload-Offset: \(size)", "Upload-Length: \(size)"])
      case "DELETE": Self.answer("204 No Content", [])
      default: .hangUp
      }
    }
    try push(server, [size], to: "tus+")
    let file = try files()[0]
    #expect(file.state == "failed" && file.cause == "proto.offset", "\(file)")
    #expect((1...4).contains(server.count("PATCH")) && server.count("HEAD") > 0)
  }

  /// Every creation is answered with the same upload.
  @Test func oneUploadIsNotThreeFiles() throws {
    let server = try AnsweringServer { request in
      switch request.method {
      case "OPTIONS": Self.answer("204 No Content", ["Tus-Version: 1.0.0", "Tus-Extension: creation,termination"])
      case "POST": Self.answer("201 Created", ["Location: /up/1"])
      case "PATCH": Self.answer("204 No Content", ["Upload-Offset: 1000"])
      default: Self.answer("200 OK", ["Upload-Offset: 0", "Upload-Length: 1000"])
      }
    }
    try push(server, [1_000, 1_000, 1_000], to: "tus+")
    let files = try files()
    #expect(files.count { $0.state == "done" } == 1)
    #expect(files.count { $0.state == "failed" && $0.cause == "proto.bad_reply" } == 2, "\(files)")
    #expect(server.count("PATCH") == 1)
    #expect(server.count("DELETE") == 0, "the upload is that of the first file")
  }
}
