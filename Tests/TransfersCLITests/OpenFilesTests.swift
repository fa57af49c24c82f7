import Glibc
import TransferModel
import Testing

@testable import TransferEngine
@testable import TransfersCLI

/// If the limit of open files (`ulimit -n`) is lower than a run needs, files wait until descriptors are free.
@Suite struct OpenFilesTests {
  private var program: BuiltProgram
  private var store: String { program.folder.path + "/l.db" }
  private static let count = 150

  init() throws {
    program = try BuiltProgram()
    program.openFiles = 80
  }

  private func expectAllDone(_ outcome: BuiltProgram.Outcome) {
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("\(Self.count) done"), "\(outcome.out)")
  }

  @Test func downloadsToManyFoldersWaitForTheirTurn() throws {
    let server = try ScriptedServer { request in ScriptedServer.Reply(body: "text of \(request.target)") }
    mkdir(program.folder.path + "/in", 0o700)
    let lines = (0..<Self.count).map { "{\"url\": \"\(server.url)/f\($0)\", \"path\": \"d\($0)/f\"}\n" }
    try writeFile(program.folder.path + "/list.jsonl", Array(lines.joined().utf8))
    let outcome = try program.run(
      "pull", "--files-from", program.folder.path + "/list.jsonl", program.folder.path + "/in", "--workers", "16",
      "--store",
      store)
    expectAllDone(outcome)
    for n in 0..<Self.count { #expect(try readText(program.folder.path + "/in/d\(n)/f") == "text of /f\(n)") }
  }

  @Test func uploadsWaitForTheirTurn() throws {
    let bodies = Lock<[String: Int]>([:])
    let server = try ScriptedServer { request in
      bodies.withLock { $0[request.target] = request.body.count }
      return ScriptedServer.Reply(status: 201)
    }
    mkdir(program.folder.path + "/out", 0o700)
    let content = [UInt8](repeating: 0x61, count: 70_000)
    for n in 0..<Self.count { try writeFile(program.folder.path + "/out/f\(n)", content) }
    let outcome = try program.run(
      "push", program.folder.path + "/out", server.url + "/up/", "--workers", "16", "--store", store)
    expectAllDone(outcome)
    #expect(bodies.withLock { $0.values.filter { $0 == 70_000 }.count } == Self.count)
  }

  /// Child processes may use select(2), which does not support descriptors from 1024 on.
  @Test func programsThatAreStartedHaveTheLimitOfBefore() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_max > 256)
      limit.rlim_cur = 256
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      OpenFileLimit.raise()
      precondition(OpenFileLimit().limit == Int(min(limit.rlim_max, 65_536)))
      // The limit is set a moment after the program has started.
      let words = ["/bin/sh", "-c", "until [ $(ulimit -S -n) = 256 ]; do sleep 0.01; done; echo it is"]
      let said = try RunningCommand(words, code: .localIO).output(limitMs: 60_000) { false }
      precondition(said == Array("it is\n".utf8))
    }
  }
}
