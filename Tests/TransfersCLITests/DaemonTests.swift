import Glibc
import TransferModel
import Testing

@testable import TransfersCLI

/// The daemon as a process, with the bundled server.
@Suite struct DaemonTests {
  let program: BuiltProgram
  private var source: String { program.folder.path + "/source" }
  private var config: String { program.folder.path + "/config.yaml" }
  private var store: String { program.folder.path + "/l.db" }

  init() throws {
    program = try BuiltProgram()
    mkdir(program.folder.path + "/source", 0o700)
    try writeFile(source + "/a", Array("a".utf8))
  }

  private func configure(_ receiver: RunningReceiver, _ job: String) throws {
    try writeFile(config, Array("jobs: {quick: {from: \(source), to: \"\(receiver.url)/in/\", \(job)}}".utf8))
    chmod(config, 0o600)
  }

  private func daemon(_ number: Int = 0, environment: [String: String] = [:]) throws -> BuiltProgram.Running {
    try program.start(
      ["daemon", "-v", "--config", config, "--store", store], number: number, environment: environment)
  }

  @Test func itRunsJobsSendsWhatIsAddedAndStopsWhenAsked() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    try configure(receiver, "every: 1h")
    let running = try daemon()
    try running.waitUntilSaid("job quick ended with 0")
    #expect(try readText(receiver.root + "/in/a") == "a")
    #expect(try program.run("daemon", "--config", "/dev/null", "--store", store).code == 6)
    #expect(try program.run("add", "--store", store, source + "/a", "\(receiver.url)/added/").code == 0)
    try running.waitUntilSaid("engine ended with 0")
    #expect(try readText(receiver.root + "/added/a") == "a")
    running.signal(SIGTERM)
    let end = try running.wait()
    #expect((end.code, end.signal) == (0, 0), "\(end.err)")
    #expect(!end.err.contains("error["))
  }

  /// No job runs, and nothing in the ledger changes: the source of an earlier push was away when it was to be deleted.
  @Test func aSourceWhoseFolderIsBackIsRemoved() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT * nth=1 : late-hold=put\n")
    let pushing = try program.start(
      ["push", "--after", "delete", "--store", store, source, "\(receiver.url)/in/"], number: 0)
    while access(receiver.root + "/in/a", F_OK) != 0 { sched_yield() }
    rename(source, source + ".away")
    try receiver.release("put")
    _ = try pushing.wait()
    rename(source + ".away", source)
    #expect(access(source + "/a", F_OK) == 0)
    try writeFile(config, [])
    let running = try daemon(1)
    try running.waitUntilSaid("engine ended with 0")
    #expect(access(source + "/a", F_OK) != 0)
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
  }

  @Test func aWrongConfigurationIsRefusedAndTheOldOneStaysInForce() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    try configure(receiver, "every: 1s")
    let running = try daemon()
    try running.waitUntilSaid("job quick ended with 0")
    try writeFile(config, Array("jobs: {quick: {from: \(source), to: \"\(receiver.url)/in/\", every: never}}".utf8))
    running.signal(SIGHUP)
    try running.waitUntilSaid("the old configuration stays in force")
    // A job that reads the configuration of its daemon records and sends this file.
    try writeFile(source + "/b", Array("b".utf8))
    while access(receiver.root + "/in/b", F_OK) != 0 { sched_yield() }
    try writeFile(config, [])
    running.signal(SIGHUP)
    try running.waitUntilSaid("configuration reloaded: 0 scheduled jobs")
    running.signal(SIGTERM)
    let end = try running.wait()
    #expect(end.code == 0, "\(end.err)")
    #expect(end.err.contains("config.yaml:1:") && end.err.contains("\"every\" takes a time"))
    #expect(try program.run("daemon", "--config", source + "/none", "--store", store).code == 78)
  }

  @Test func aKilledDaemonTakesItsChildrenWithItAndTheNextGoesOn() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT * nth=1 : hold=put\n")
    try configure(receiver, "every: 1s")
    let killed = try daemon()
    try receiver.waitUntilHeld("put")
    killed.signal(SIGKILL)
    try receiver.release("put")
    // Its standard error is closed only when the last process that it started has ended.
    #expect(try killed.wait().signal == SIGKILL)
    let next = try daemon(1)
    try next.waitUntilSaid("job quick ended with 0")
    next.signal(SIGTERM)
    #expect(try next.wait().code == 0)
    #expect(try readText(receiver.root + "/in/a") == "a")
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  @Test func aStopLetsTheRequestThatRunsEnd() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT * nth=1 : hold=put\n")
    try configure(receiver, "every: 1h")
    let running = try daemon()
    try receiver.waitUntilHeld("put")
    running.signal(SIGTERM)
    try running.waitUntilSaid("stopping")
    try receiver.release("put")
    let end = try running.wait()
    #expect((end.code, end.signal) == (0, 0), "\(end.err)")
    #expect(try readText(receiver.root + "/in/a") == "a")
    let attempts = try program.run(
      "store", "sql", "SELECT outcome, count(*) FROM attempt GROUP BY 1", "--format", "csv", "--store", store)
    #expect(attempts.out.split(whereSeparator: \.isNewline) == ["outcome,count(*)", "ok,1"], "\(attempts.out)")
  }

  /// No file is left to send, but a callback is still to be delivered.
  @Test func itDeliversWhatCouldNotBeDelivered() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    try writeFile(config, [])
    chmod(config, 0o600)
    let (script, told) = (program.folder.path + "/tell", program.folder.path + "/told")
    try writeFile(script, Array("#!/bin/sh\ntest -e '\(told)' || exit 1\ncat > '\(told)'\n".utf8))
    chmod(script, 0o700)
    let pushed = try program.run(
      "push", "-q", "--store", store, "--on-done", "exec:\(script)", source, "\(receiver.url)/in/")
    #expect(pushed.code == 0, "\(pushed.err)")
    try writeFile(told, [])
    let running = try daemon()
    #expect(try program.run("callbacks", "retry", "1", "--store", store).code == 0)
    try running.waitUntilSaid("engine ended with 0")
    #expect(try readText(told).contains("\"done\""))
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
  }

  /// Only the watch can start the job in time: its schedule is hours away.
  @Test func whatAppearsInAWatchedFolderIsSentWithoutATime() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    try configure(receiver, "every: 12h, watch: true, exclude: [\"*.part\"]")
    let running = try daemon()
    // One run at the start, and perhaps another for what the watch found initially.
    while access(receiver.root + "/in/a", F_OK) != 0 { sched_yield() }
    try writeFile(source + "/b.part", Array("b".utf8))
    #expect(rename(source + "/b.part", source + "/b") == 0)
    while access(receiver.root + "/in/b", F_OK) != 0 { sched_yield() }
    mkdir(source + "/new", 0o700)
    mkdir(source + "/new/deep", 0o700)
    try writeFile(source + "/new/deep/c", Array("c".utf8))
    while access(receiver.root + "/in/new/deep/c", F_OK) != 0 { sched_yield() }
    running.signal(SIGTERM)
    let end = try running.wait()
    #expect(end.code == 0, "\(end.err)")
    #expect(end.err.contains("1 scheduled job, 1 watched"), "\(end.err)")
    #expect(try readText(receiver.root + "/in/b") == "b")
  }

  /// Either the schedule or the watch tells of the new file while a destination of the job hangs.
  @Test(arguments: ["every: 1s", "every: 12h, watch: true"])
  func aDestinationThatHangsHoldsNoOtherUp(_ times: String) throws {
    let good = try RunningReceiver(in: try TemporaryFolder())
    let bad = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT * nth=1 : hold=put\n")
    let to = "[\"\(good.url)/in/\", \"\(bad.url)/in/\"]"
    try writeFile(config, Array("jobs: {quick: {from: \(source), to: \(to), \(times)}}".utf8))
    chmod(config, 0o600)
    let running = try daemon()
    try bad.waitUntilHeld("put")
    try writeFile(source + "/b", Array("b".utf8))
    while access(good.root + "/in/b", F_OK) != 0 { sched_yield() }
    let jobs = try program.run("store", "sql", "SELECT count(*) FROM job_state", "--format", "csv", "--store", store)
    #expect(jobs.out.split(whereSeparator: \.isNewline).last == "0", "a recording is no run: \(jobs.out)")
    try bad.release("put")
    for name in ["a", "b"] { while access(bad.root + "/in/" + name, F_OK) != 0 { sched_yield() } }
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  /// The list names a file of another server while the first server hangs.
  @Test func aServerThatHangsHoldsNoOtherDownloadUp() throws {
    let good = try RunningReceiver(in: try TemporaryFolder())
    let bad = try RunningReceiver(in: try TemporaryFolder(), script: "match GET * nth=1 : hold=get\n")
    for (server, name) in [(bad, "a"), (good, "b")] {
      mkdir(server.root + "/in", 0o700)
      try writeFile(server.root + "/in/" + name, Array(name.utf8))
    }
    let (list, target) = (program.folder.path + "/urls", program.folder.path + "/fetched")
    try writeFile(list, Array("\(bad.url)/in/a\n".utf8))
    let job = "direction: download, files_from: \(list), to: \(target), every: 1s"
    try writeFile(config, Array("jobs: {quick: {\(job)}}".utf8))
    chmod(config, 0o600)
    let running = try daemon()
    try bad.waitUntilHeld("get")
    try writeFile(list + ".new", Array("\(bad.url)/in/a\n\(good.url)/in/b\n".utf8))
    #expect(rename(list + ".new", list) == 0)
    while access(target + "/b", F_OK) != 0 { sched_yield() }
    let jobs = try program.run("store", "sql", "SELECT count(*) FROM job_state", "--format", "csv", "--store", store)
    #expect(jobs.out.split(whereSeparator: \.isNewline).last == "0", "a recording is no run: \(jobs.out)")
    try bad.release("get")
    while access(target + "/a", F_OK) != 0 { sched_yield() }
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  @Test func aFolderAndItsDestinationCanBeNamedOnTheCommandLine() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    try writeFile(config, [])
    chmod(config, 0o600)
    let options = ["--config", config, "--store", store, "--watch", "\(source)=\(receiver.url)/in/"]
    let killed = try program.start(["daemon", "-v"] + options)
    try killed.waitUntilSaid("ended with 0")
    killed.signal(SIGKILL)
    #expect(try killed.wait().signal == SIGKILL)
    // Written while no daemon watches.
    try writeFile(source + "/b", Array("b".utf8))
    let next = try program.start(["daemon", "-v"] + options, number: 1)
    while access(receiver.root + "/in/b", F_OK) != 0 { sched_yield() }
    next.signal(SIGTERM)
    #expect(try next.wait().code == 0)
    // The job has the same name, so the files that were sent are known.
    let jobs = try program.run("store", "sql", "SELECT count(DISTINCT job), count(*) FROM batch", "--store", store)
    #expect(jobs.out.contains("1") && jobs.out.contains("2"), "\(jobs.out)")
    for wrong in ["nothing", "=x", "\(source)="] {
      let refused = try program.run("daemon", "--config", config, "--store", store, "--watch", wrong)
      #expect(refused.code == 64 && refused.err.contains("DIR=DEST"), "\(refused.err)")
    }
  }

  /// The job has nothing to send: it leaves nothing, however far it has come when it is stopped.
  @Test func aServiceManagerIsToldWhatHappens() throws {
    let receiver = try RunningReceiver(in: try TemporaryFolder())
    unlink(source + "/a")
    try configure(receiver, "every: 1h")
    let socket = try NoticeSocket(program.folder.path + "/notify")
    let running = try daemon(
      environment: ["NOTIFY_SOCKET": program.folder.path + "/notify", "WATCHDOG_USEC": "1000000"])
    #expect(try socket.next().hasPrefix("READY=1\nSTATUS=1 scheduled job"))
    while try socket.next() != "WATCHDOG=1" {}
    running.signal(SIGHUP)
    var text = try socket.next()
    while !text.hasPrefix("RELOADING=1") { text = try socket.next() }
    #expect(text.contains("\nMONOTONIC_USEC="))
    while !text.hasPrefix("READY=1") { text = try socket.next() }
    running.signal(SIGTERM)
    while !text.hasPrefix("STOPPING=1") { text = try socket.next() }
    #expect(try running.wait().code == 0)
  }
}

/// The socket at which a service manager listens.
private final class NoticeSocket {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let isBound = withUnsafeBytes(of: &address) {
      bind(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
    }
    guard isBound else { throw SystemFailure("bind \(path)") }
    // A limit for failures only; a passing test never waits this long.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func next() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { throw SystemFailure("the daemon sent no notification") }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
