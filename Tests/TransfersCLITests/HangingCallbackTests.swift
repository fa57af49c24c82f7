import Glibc
import Testing

@testable import TransfersCLI

/// A callback that hangs, through the built program and the bundled server.
@Suite struct HangingCallbackTests {
  private let scene: JobScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    scene = try JobScene()
    for name in ["one", "two"] { try scene.fill(name, [name: Array(name.utf8)]) }
    // It hangs until somebody writes to the pipe.
    mkfifo("\(folder)/pipe", 0o600)
    try writeFile("\(folder)/hang.sh", Array("#!/bin/sh\nexec cat '\(folder)/pipe'\n".utf8))
    chmod("\(folder)/hang.sh", 0o700)
  }

  private func configure(_ more: String = "") throws {
    let text = """
      jobs:
        one: {from: \(folder)/one, to: "\(receiver.url)/in/", on_done: "exec:\(folder)/hang.sh"\(more)}
        two: {from: \(folder)/two, to: "\(receiver.url)/in/"\(more)}

      """
    try scene.configure(text)
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try scene.run(words)
  }

  private func ask(_ sql: String) throws -> [Int64] {
    let out = try run("store", "sql", "--format", "tsv", sql).out
    return out.split(separator: "\n").dropFirst().compactMap { Int64($0) }
  }

  /// Until the first engine has ended and its callback is being delivered.
  private func waitUntilItHangs() throws {
    let sql = """
      SELECT (SELECT count(*) FROM v_deliveries WHERE outcome = 'open')
        + 10 * (SELECT count(*) FROM engine_run WHERE ended_at IS NULL)
      """
    while try ask(sql) != [1] { usleep(20_000) }
  }

  /// Opening the pipe for writing waits until the callback reads it.
  private func release() throws { close(open("\(folder)/pipe", O_WRONLY)) }

  @Test func itHoldsUpNoOtherEngine() throws {
    try configure()
    let first = try scene.start(["job", "run", "one", "-v", "--no-syslog"])
    try waitUntilItHangs()
    let second = try run("job", "run", "two", "-v", "--no-syslog")
    #expect(second.code == 0 && second.out.contains("result=ok"), "\(second.out)\(second.err)")
    let beforeMs = try ask("SELECT ended_at FROM engine_run WHERE id = 2").first ?? .min
    try release()
    let end = try first.wait()
    #expect(end.code == 0, "\(end.err)")
    #expect(try readText("\(receiver.root)/in/two") == "two")
    #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'ok'") == [1])
    let toldMs = try ask("SELECT ended_at FROM job_state WHERE job = 'one'")[0]
    #expect(toldMs <= beforeMs, "the end of the run includes the wait for the callback")
    let wall = end.out.split(separator: " ").first { $0.hasPrefix("wall_ms=") }.flatMap { Int64($0.dropFirst(8)) }
    let startedMs = try ask("SELECT started_at FROM job_state WHERE job = 'one'")[0]
    #expect(wall == toldMs - startedMs)
  }

  /// The result of the run is recorded at once, and its callback goes out beside the one that hangs: one deadline is
  /// for both of them.
  @Test func itHoldsUpNoCallbackAboutTheRun() throws {
    try configure(", on_result: \"exec:\(folder)/hang.sh\"")
    let job = try scene.start(["job", "run", "one", "--no-syslog"])
    let sql = """
      SELECT (SELECT count(*) FROM v_deliveries WHERE outcome = 'open')
        + 10 * (SELECT count(*) FROM v_deliveries WHERE outcome <> 'open')
      """
    var now: [Int64] = []
    while now != [2], (now.first ?? 0) < 10 {
      usleep(20_000)
      now = try ask(sql)
    }
    #expect(now == [2], "that of the file had ended before that of the run began")
    try release()
    #expect(try job.wait().code == 0)
    #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'ok'") == [2])
  }

  /// What could not be delivered stays in the outbox; a signal ends the wait.
  @Test func aSignalEndsTheWait() throws {
    try configure()
    let job = try scene.start(["job", "run", "one", "--no-syslog"])
    try waitUntilItHangs()
    job.signal(SIGTERM)
    _ = try job.wait()
    #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'interrupted'") == [1])
    let states = "SELECT count(*) FROM outbox WHERE state = 'waiting'"
    #expect(try ask(states) == [1])
  }

  /// Without a file to send there is no engine, and the signal must not end the process alone: the program would go on
  /// without a limit, while the next run starts it again.
  @Test func aSignalEndsTheProgramOfARunThatSendsNothing() throws {
    try configure(", on_result: \"exec:\(folder)/hang.sh\"")
    #expect(unlink("\(folder)/two/two") == 0)
    for (number, words) in [["job", "run", "two", "--no-syslog"], ["callbacks", "deliver"]].enumerated() {
      let command = try scene.start(words)
      try waitUntilItHangs()
      command.signal(SIGTERM)
      #expect(try command.wait().code == 0)
      #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'interrupted'") == [Int64(number) + 1])
      #expect(open("\(folder)/pipe", O_WRONLY | O_NONBLOCK) == -1, "the program still reads the pipe")
    }
  }

  /// The engine of the daemon waits for the callback too, and must not keep the next one from starting.
  @Test func itHoldsUpNoEngineOfTheDaemon() throws {
    try configure()
    #expect(try run("job", "run", "one", "--max-bytes", "1", "--no-syslog").code == 5)
    let daemon = try scene.start(["daemon", "-v"])
    try waitUntilItHangs()
    #expect(try run("add", "\(folder)/two/two", "\(receiver.url)/added/").code == 0)
    while access("\(receiver.root)/added/two", F_OK) != 0 { usleep(20_000) }
    #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'open'") == [1], "it has not hung so long")
    try release()
    daemon.signal(SIGTERM)
    let end = try daemon.wait()
    #expect(end.code == 0, "\(end.err)")
    #expect(!end.err.contains("error["), "\(end.err)")
  }

  /// What a receiver leaves in the background goes on after its delivery.
  @Test func itsWorkInTheBackgroundIsDone() throws {
    let work = "(cat '\(folder)/pipe' > '\(folder)/new'; mv '\(folder)/new' '\(folder)/late') &"
    try writeFile("\(folder)/hang.sh", Array("#!/bin/sh\n\(work)\n".utf8))
    try configure()
    #expect(try run("job", "run", "one", "--no-syslog").code == 0)
    #expect(try ask("SELECT count(*) FROM v_deliveries WHERE outcome = 'ok'") == [1])
    for _ in 0..<20_000 where access("\(folder)/late", F_OK) != 0 {
      // Fails while nobody reads it.
      let pipe = open("\(folder)/pipe", O_WRONLY | O_NONBLOCK)
      if pipe >= 0 { close(pipe) }
      usleep(1_000)
    }
    #expect(access("\(folder)/late", F_OK) == 0, "the process was killed")
  }
}
