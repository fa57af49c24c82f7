import Glibc
import Testing
import TransferModel
import TransferTestSupport

/// A program that is killed before its parts are answered: the parts that arrived are not sent again.
@Suite struct KilledUploadTests {
  private let program: BuiltProgram
  private let s3 = ScriptedS3()
  private let server: ScriptedServer
  private var store: String { program.folder.path + "/l.db" }
  private let keys = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret-key", "AWS_REGION": "us-east-1"]
  private static let partSize = 5 << 20

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [s3] in s3.answer($0) }
    try writeFile(program.folder.path + "/big", noise(3 * Self.partSize + 1_000))
  }

  /// Starts a push, and kills it when all four parts are stored but none is answered.
  private func kill() throws {
    let running = try program.start(
      [
        "push", program.folder.path + "/big", "s3://bucket/in/", "--endpoint-url", server.url, "--part-size", "5MiB",
        "--workers", "8", "--store", store,
      ], environment: keys)
    try s3.waitForParts(4)
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(s3.state.withLock { $0.partRequests } == 4)
    s3.state.withLock { state in
      state.isSilent = false
      (state.partBytes, state.partRequests, state.requests) = (0, 0, [])
    }
  }

  @Test func partsThatArrivedAreNotSentAgain() throws {
    try kill()
    let outcome = try program.run("run", "--store", store, environment: keys)
    #expect(outcome.code == 0, "\(outcome.err)")
    let state = s3.state.withLock { $0 }
    #expect(state.partRequests == 0 && state.partBytes == 0, "\(state.requests)")
    #expect(state.requests == ["GET max-parts&part-number-marker&uploadId", "POST uploadId"])
    let files = try program.run("list", "files", "--json", "--store", store)
    #expect(
      files.out.contains(#""bytes_transferred":15729640,"bytes_unacked":0,"bytes_unacked_at_most":0"#), "\(files.out)")
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  /// One part number has other content on the server: only that part is sent again.
  @Test func aPartWithOtherContentIsSentAgain() throws {
    try kill()
    s3.state.withLock { $0.foreignPart = 2 }
    let outcome = try program.run("run", "--store", store, environment: keys)
    #expect(outcome.code == 0, "\(outcome.err)")
    let state = s3.state.withLock { $0 }
    #expect(state.partRequests == 1 && state.partBytes == Self.partSize, "\(state.requests)")
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  /// The source has changed since: the old parts must not be used for it.
  @Test func partsOfAnotherVersionAreNotTaken() throws {
    try kill()
    try writeFile(program.folder.path + "/big", [UInt8](repeating: 7, count: 3 * Self.partSize + 1_000))
    let outcome = try program.run("run", "--store", store, environment: keys)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(s3.state.withLock { $0.partBytes } == 3 * Self.partSize + 1_000)
  }
}
