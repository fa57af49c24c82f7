import Glibc
import Testing
import TransferModel

/// The control verbs while an engine runs, and after it was killed: the built program against the bundled server.
@Suite struct ControlRunningTests {
  let program: BuiltProgram
  private let server: RunningReceiver
  private var store: String { program.folder.path + "/l.db" }

  /// Records a batch with one file of 3 MiB. The server accepts only a part of it until it is released.
  init() throws {
    program = try BuiltProgram()
    // Two names, because the server may notice late that the first request ended with its connection.
    let script = "match PUT * nth=1 : body-hold=100000,body\nmatch PUT * nth=2 : body-hold=100000,again\n"
    server = try RunningReceiver(in: program.folder, script: script)
    try writeFile(program.folder.path + "/big", Array(repeating: 7, count: 3 << 20))
    #expect(try run("add \(program.folder.path)/big \(server.url)/held/").code == 0)
  }

  private func run(_ command: String) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)])
  }

  /// Starts an engine and waits until it is sending its file.
  private func engine(number: Int = 0, holding name: String = "body") throws -> BuiltProgram.Running {
    let running = try program.start("run", "--store", store, number: number)
    try server.waitUntilHeld(name)
    return running
  }

  @Test func aRunningEngineIsAskedAndFollows() throws {
    let first = try engine()
    let paused = try run("pause b1 --now")
    #expect((paused.code, paused.err) == (0, ""))
    #expect(paused.out == "asked the running engine to pause 1 file\nNext: transfers resume b1\n")
    let settled = try run("wait b1 --timeout 60s")
    #expect((settled.code, settled.out.hasPrefix("work left: 1 paused · ")) == (5, true), "\(settled)")
    #expect(try first.wait().code == 5)
    #expect(try run("resume b1").out == "1 file resumed\nNext: transfers run\n")
    let second = try engine(number: 1, holding: "again")
    #expect(try run("cancel b1").out == "asked the running engine to cancel 1 file\n")
    #expect(try run("wait b1 --timeout 60s").code == 4)
    _ = try second.wait()
    #expect(try run("list files --state cancelled --ids").out == "f1\n")
    #expect(try run("follow --since 1h --until-idle").out.contains(" interrupted"))
    #expect(try run("store check").code == 0)
  }

  /// At 48 KiB/s the file would take a minute; `wait` allows only half of that.
  @Test func aNewRateHoldsAtOnce() throws {
    #expect(try run("rm b1").code == 0)
    #expect(try run("add \(program.folder.path)/big \(server.url)/fast/").code == 0)
    #expect(try run("set b2 --rate 48K").out == "1 batch changed\n")
    let running = try engine()
    try server.release("body")
    #expect(try run("set b2 --rate none").out == "1 batch changed; the running engine follows\n")
    let done = try run("wait b2 --for done --timeout 30s")
    #expect(done.code == 0, "\(done)")
    #expect(try running.wait().code == 0)
  }

  /// The file is one body of 3 MiB: nothing is acknowledged before its answer.
  @Test func othersSeeWhatIsInFlight() throws {
    let running = try engine()
    let (sent, status) = try statusWithBytesInFlight()
    #expect(sent >= 100_000 && sent <= 3 << 20)
    #expect(status.contains("\"bytes_acked\":0,\"bytes_in_flight\":\(sent),\"callbacks_forgotten\""), "\(status)")
    #expect(status.ranges(of: "\"bytes_in_flight\":\(sent),").count == 2, "once for all files, and once for the file")
    #expect(status.ranges(of: /"bps":[0-9]+/).count == 2, "as often as the bytes: \(status)")
    let top = try run("top --once").out
    #expect(top.contains(/of it in flight at [0-9.]+ [KM]?i?B\/s\n/) && top.contains("rate    |"), "\(top)")
    let why = try run("why f1").out
    #expect(why.contains(/are in flight, at .*\/s over the last seconds\./), "\(why)")
    #expect(why.contains("while moving") && !why.contains("while moving     0 B/s"), "\(why)")
    try server.release("body")
    #expect(try running.wait().code == 0)
    #expect(try run("status --json").out.contains("\"bytes_acked\":\(3 << 20),\"bytes_in_flight\":0,"))
  }

  @Test func aDeadEngineHasNothingInFlight() throws {
    let running = try engine()
    _ = try statusWithBytesInFlight()
    running.signal(SIGKILL)
    _ = try running.wait()
    let status = try run("status --json").out
    #expect(status.contains("\"bytes_in_flight\":0,\"callbacks_forgotten\""), "\(status)")
    #expect(try !run("top --once").out.contains("in flight"))
  }

  /// The engine publishes this figure once a second; this polls until it appears.
  private func statusWithBytesInFlight() throws -> (bytes: Int64, status: String) {
    let end = time(nil) + 60
    while time(nil) < end {
      let status = try run("status --json").out
      let found = status.firstMatch(of: /"bytes_in_flight":([0-9]+),"callbacks_forgotten"/).flatMap { Int64($0.1) }
      if let found, found > 0 { return (found, status) }
    }
    throw SystemFailure("wait for bytes in flight")
  }

  @Test func aDeadEngineLosesItsFilesToTheVerb() throws {
    let running = try engine()
    running.signal(SIGKILL)
    #expect(try running.wait().signal == SIGKILL)
    let paused = try run("pause f1")
    #expect(
      paused.out == """
        the engine that had 1 file crashed; its files were recovered: 1 paused
        Next: transfers resume f1

        """, "\(paused)")
    #expect(try run("wait f1 --timeout 10s").code == 5)
    #expect(try run("status --json").out.contains(#""how":"recovered""#))
  }

  @Test func aReaderThatGoesAwayEndsFollow() throws {
    let outcome = try program.runIntoClosedPipe("follow", "--store", store)
    #expect((outcome.code, outcome.signal, outcome.err) == (0, 0, ""))
  }
}
