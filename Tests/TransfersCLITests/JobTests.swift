import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Configurations and jobs, through the built program and the bundled server.
@Suite struct JobTests {
  let program: BuiltProgram
  let receiver: RunningReceiver
  private var source: String { program.folder.path + "/source" }
  private var config: String { program.folder.path + "/config.yaml" }
  private var store: String { program.folder.path + "/l.db" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder())
    mkdir(program.folder.path + "/source", 0o700)
    for name in ["a", "b", "c.part"] { try writeFile(source + "/" + name, Array(name.utf8)) }
    try configure("")
  }

  private func configure(_ more: String) throws {
    let text = """
      destinations: {box: {url: "\(receiver.url)/in/"}}
      jobs:
        nightly: {from: \(source), exclude: "*.part", to: "box:sub"\(more)}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
  }

  private func run(_ words: String..., environment: [String: String] = [:]) throws -> BuiltProgram.Outcome {
    try program.run(
      (words + ["--config", config, "--store", store]).map { Array($0.utf8) }, environment: environment)
  }

  private func stored(_ name: String) -> String? { try? readText(receiver.root + "/in/sub/" + name) }

  @Test func aRunIsQuietAndSendsWhatIsNew() throws {
    let first = try run("job", "run", "nightly", "--no-syslog")
    #expect((first.code, first.out, first.err) == (0, "", ""))
    #expect((stored("a"), stored("b"), stored("c.part")) == ("a", "b", nil))
    let batches = try run("list", "batches", "--job", "nightly", "--ids").out
    #expect(batches == "b1\n")
    #expect(try run("job", "run", "nightly").code == 0)
    #expect(try run("list", "batches", "--all", "--ids").out == batches, "a run with nothing new recorded a batch")
    #expect(try run("report", "runs", "--format", "tsv", "--columns", "id").out == "id\nr1\n")
  }

  /// Nothing is sent: the removal had waited for a file of somebody else, and then finds that it may not be done.
  @Test func aSourceThatARunWithNothingNewKeepsIsTold() throws {
    mkdir(program.folder.path + "/moved", 0o700)
    try configure(", after: \"move:\(program.folder.path)/moved\"")
    #expect(try run("add", source, "http://127.0.0.1:1/elsewhere/").code == 0)
    #expect(try run("job", "run", "nightly", "--max-duration", "1s").err == "")
    try writeFile(program.folder.path + "/moved/a", Array("other".utf8))
    #expect(try run("cancel", "--batch", "b1").code == 0)
    let outcome = try run("job", "run", "nightly")
    #expect(
      (outcome.code, outcome.err) == (
        0,
        "1 source that --after was to delete or move stays: its name already exists in the target folder\n"
      ))
    #expect(try run("job", "run", "nightly").err == "", "once")
  }

  @Test func aFailureIsToldInAFewLines() throws {
    let broken = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT /in/sub/a : status=400\n")
    let text = "jobs: {nightly: {from: \(source), to: \"\(broken.url)/in/sub/\"}}"
    try writeFile(config, Array(text.utf8))
    let outcome = try run("job", "run", "nightly", "-v")
    #expect(outcome.code == 3)
    #expect(outcome.err.split(separator: "\n").count <= 20)
    #expect(outcome.err.contains("http.400"))
    #expect(outcome.out.contains("job=nightly") && outcome.out.contains("result=partial"))
    #expect(try run("check", "--job", "nightly", "--max-age", "1h").code == 2)
    #expect(try run("check", "--job", "nightly", "--max-failed", "1").code == 0)
  }

  /// What a scan finds unreadable each time is recorded once, and counts each time: in the table of causes, too.
  @Test func theCausesIncludeWhatAnEarlierRunFound() throws {
    symlink(".", source + "/loop")
    try configure(", follow_symlinks: true")
    for name in ["first", "second", "third"] {
      if name != "third" { try writeFile(source + "/" + name, Array(name.utf8)) }
      let outcome = try run("job", "run", "nightly", "--no-syslog")
      #expect([3, 4].contains(outcome.code) && outcome.err.contains("1 failed"), "\(outcome.err)")
      // Not only in the notice about the folder.
      #expect(outcome.err.contains("\n    1  source.kind  is a directory"), "\(name): \(outcome.err)")
    }
    #expect(try run("list", "files", "--state", "failed", "--ids").out.split(separator: "\n").count == 1)
    let (first, second) = (source + "/first", program.folder.path + "/gone")
    try writeFile(program.folder.path + "/list", Array("\(first)\n\(second)\n".utf8))
    for n in 0..<2 {
      let words = ["push", "--files-from", program.folder.path + "/list", "--missing", "skip", "--json"]
      let outcome = try program.run(
        (words + ["\(receiver.url)/list/", "--store", store]).map { Array($0.utf8) })
      let isListed = outcome.out.contains(#""failures":[{"#) && outcome.out.contains(#""source.missing""#)
      #expect(isListed, "\(n): \(outcome.out)")
    }
  }

  @Test func aPlanIsSentExactly() throws {
    let plan = program.folder.path + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    #expect(stored("a") == nil)
    try writeFile(source + "/b", Array("other".utf8))
    try writeFile(source + "/new", Array("new".utf8))
    let outcome = try run("job", "run", "nightly", "--plan", plan)
    #expect(outcome.code == 3)
    #expect(outcome.err.contains("source.changed"))
    #expect((stored("a"), stored("b"), stored("new")) == ("a", nil, nil))
  }

  /// The plan means one version of each file: no other is sent in its place, even if the file changes after a run that
  /// has recorded and left it.
  @Test func aPlannedFileThatChangesAfterItWasRecordedIsNotSent() throws {
    let plan = program.folder.path + "/plan.jsonl"
    try configure(", max_bytes: 1")
    for name in ["a", "b"] { try writeFile(source + "/" + name, Array((name + name).utf8)) }
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    _ = try run("job", "run", "nightly", "--plan", plan)
    #expect((stored("a"), stored("b")) == (nil, nil))
    try writeFile(source + "/b", Array("BB".utf8))
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 3 && outcome.err.contains("source.changed"), "\(outcome.err)")
    #expect((stored("a"), stored("b")) == ("aa", nil))
  }

  @Test func theBeginningOfANameIsEnoughForASuggestion() throws {
    let outcome = try run("job", "run", "night")
    #expect(outcome.code == 78 && outcome.err.hasSuffix("Try: transfers job show nightly\n"), "\(outcome.err)")
  }

  /// The plan says which job it is of.
  @Test func aPlanNeedsNoNameOfItsJob() throws {
    let plan = program.folder.path + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    let outcome = try run("job", "run", "--plan", plan)
    #expect((outcome.code, outcome.err) == (0, ""))
    #expect((stored("a"), stored("b")) == ("a", "b"))
    try writeFile(plan, Array("{\"plan\":\"other\"}\n".utf8))
    #expect(try run("job", "run", "--plan", plan).code == 65)
    #expect(try run("job", "run", "--plan", plan + ".none").code == 66)
    #expect(try run("job", "run").code == 64)
  }

  /// A zero needs no unit.
  @Test func aSettleTimeMayBeZero() throws {
    try configure(", settle: 0")
    let outcome = try run("job", "run", "nightly")
    #expect((outcome.code, outcome.err) == (0, ""))
    #expect(stored("a") == "a")
    #expect(try run("push", "-q", "--settle", "0", source, "\(receiver.url)/zero/").code == 0)
  }

  /// What is deleted before its turn is nothing to send, and no failure: it is told, and closed in the ledger.
  @Test func aFileThatIsDeletedBeforeItsTurnIsNoFailure() throws {
    for name in ["a", "b"] { try writeFile(source + "/" + name, Array("long".utf8)) }
    // Both files are longer.
    #expect(try run("job", "run", "nightly", "--max-bytes", "1").code == 5)
    unlink(source + "/b")
    let outcome = try run("job", "run", "nightly", "-v", "--no-syslog")
    // Only the files that it uses, because of -v.
    let lines = outcome.err.split(separator: "\n").map { $0.prefix { $0 != "\"" } }
    #expect(
      outcome.code == 0 && lines == ["transfers: the ledger is ", "transfers: configuration "], "\(outcome.err)")
    #expect(outcome.out.contains(" done=1 failed=0 ") && outcome.out.contains(" gone=1 "), "\(outcome.out)")
    #expect((stored("a"), stored("b")) == ("long", nil))
    let closed = try run("list", "files", "--all", "--format", "tsv", "--columns", "path,state,cause").out
    #expect(closed.contains("/b\t\tsuperseded\tsource.missing\n"), "\(closed)")
    #expect(try run("store", "check").code == 0)
    // A later file with its name is another one.
    try writeFile(source + "/b", Array("later".utf8))
    #expect(try run("job", "run", "nightly").code == 0)
    #expect(stored("b") == "later")
  }

  /// A planned file whose marker has disappeared waits for the marker; the file does not count as missing.
  @Test func aPlannedFileThatIsNotReadyWaits() throws {
    try configure(", ready_file: '{path}.done'")
    for name in ["a", "b"] { try writeFile(source + "/\(name).done", []) }
    let plan = program.folder.path + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    unlink(source + "/b.done")
    let outcome = try run("job", "run", "nightly", "--plan", plan)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect((stored("a"), stored("b")) == ("a", nil))
    #expect(try run("list", "files", "--ids", "--all").out == "f1\n")
    unlink(source + "/b")
    let gone = try run("job", "run", "nightly", "--plan", plan)
    #expect(gone.code != 0 && gone.err.contains("source.missing"), "\(gone.err)")
  }

  /// What a run would use, wherever it comes from; the origins are those of "config show --origin".
  @Test func aJobShowsItsEffectiveSettings() throws {
    let text = """
      defaults: {drain_timeout: 7s}
      destinations: {box: {url: "\(receiver.url)/in/", workers: 3, rate: 40MiB/s}}
      jobs: {nightly: {from: \(source), to: "box:sub", workers: 2, settle: 60s, every: 5m}}
      """
    try writeFile(config, Array(text.utf8))
    let words = ["job", "show", "nightly", "--json", "--config", config, "--store", store]
    let outcome = try program.run(
      words.map { Array($0.utf8) }, environment: ["TRANSFERS_SETTLE": "5s", "TRANSFERS_RATE_GROUP": "lab"])
    let shown = try #require(outcome.out.firstRange(of: #""settings":["#).map { String(outcome.out[$0.upperBound...]) })
    /// `origin` may be the beginning of the origin, without the column of a file.
    func row(_ key: String, _ value: String, _ origin: String) -> Bool {
      shown.split(separator: "{").contains { row in
        row.hasPrefix(#""key":"\#(key)","origin":"\#(origin)"#) && row.contains(#"","value":"\#(value)"}"#)
      }
    }
    #expect(row("workers", "2", "\(config):3:"), "\(shown)")
    #expect(!row("workers", "3", config), "the job takes precedence over its destination")
    #expect(row("rate", "40MiB/s", "\(config):2:"), "\(shown)")
    #expect(row("settle", "5s", "TRANSFERS_SETTLE") && row("rate_group", "lab", "TRANSFERS_RATE_GROUP"), "\(shown)")
    #expect(!shown.contains(#""value":"60s""#), "the environment takes precedence over the job")
    #expect(row("destinations.box.url", "\(receiver.url)/in/", "\(config):2:"), "\(shown)")
    #expect(row("every", "5m", "\(config):3:") && row("drain_timeout", "7s", "\(config):1:"), "\(shown)")
    #expect(row("defaults.store", store, "--store"), "\(shown)")
  }

  /// A plan that was truncated by a copy is not taken for a shorter plan, and nothing of a wrong plan is sent.
  @Test func aPlanIsTakenWholeOrNotAtAll() throws {
    let plan = program.folder.path + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    let lines = try readText(plan).split(separator: "\n").map { String($0) + "\n" }
    try #require(lines.count == 4 && lines[3] == "{\"files\":2}\n", "\(lines)")
    let wrong: [(ArraySlice<String>, String)] = [
      (lines[...2], "its end is missing"), (lines[...1], "its end is missing"), (lines[...0], "its end is missing"),
      (lines[...1] + lines[3...], "says 2 files, but it lists 1"), (lines[...1] + lines[1...], "comes twice"),
      (lines[...] + lines[1...1], "data after its last record"), ([], "it is empty"),
      ([lines[0].replacing("nightly", with: "other")], "a plan of the job \"other\""),
      ([lines[0].replacing("/in/", with: "/out/")] + lines[1...], "it is a plan for "),
      ([lines[0].replacing(#""origin":"http:"#, with: #""origin":"https:"#)] + lines[1...], "it is a plan for "),
      (lines[...2] + [String(lines[3].dropLast(3))], "not a record"),
    ]
    for (lines, cause) in wrong {
      try writeFile(plan, Array(lines.joined().utf8))
      let outcome = try run("job", "run", "nightly", "--plan", plan)
      #expect(outcome.code == 65 && outcome.err.contains(cause), "\(outcome.code) \(outcome.err)")
    }
    #expect(stored("a") == nil && stored("b") == nil)
  }

  /// A value where only a reference is valid may be the secret itself: it must not appear in any output, log or ledger.
  /// The path of a dead man's switch is a secret, too.
  @Test func aSecretInAConfigurationIsNotPrinted() throws {
    let wrong = [
      "webhook_key: hunter2, on_result: \"webhook:https://h.example/x\"",
      "on_failed: \"https://hooks.example/services/hunter2\"", "on_result: \"https://hooks.example/services/hunter2\"",
    ]
    for more in wrong {
      try configure(", " + more.replacing("nightly: {", with: ""))
      let outcome = try run("job", "run", "nightly", "-v")
      #expect(outcome.code == 78, "\(more): \(outcome.code) \(outcome.err)")
      let shown = try run("config", "show", "-v").out + run("job", "show", "nightly", "--json").out
      let checked = try run("config", "check")
      #expect(checked.code == 78, "\(more): \(checked.out)\(checked.err)")
      let ledger = [store, store + "-wal"].map { (try? String(decoding: readBytes($0), as: UTF8.self)) ?? "" }
      let all = [outcome.out, outcome.err, shown, checked.out, checked.err] + ledger
      #expect(all.allSatisfy { !$0.contains("hunter2") }, "\(more): \(all)")
    }
    try configure(", ping: \"https://hc-ping.example/hunter2\"")
    for words in [["config", "show"], ["job", "show", "nightly"], ["job", "show", "nightly", "--json"]] {
      let shown = try program.run((words + ["--config", config, "--store", store]).map { Array($0.utf8) })
      #expect(shown.code == 0 && shown.out.contains("https://hc-ping.example/(hidden)"), "\(shown.out)")
      #expect(!shown.out.contains("hunter2"))
    }
  }

  /// The server keeps the engine waiting until the seven others have ended: a later one would find nothing to do, and
  /// still start an engine.
  @Test func eightAtOnceStartOneEngine() throws {
    let (gate, sent, ended) = (Mailbox<Bool>(), Lock<[String]>([]), Mailbox<Int32>())
    let server = try ScriptedServer { request in
      if request.method == "PUT" { sent.withLock { $0.append(request.target) } }
      _ = gate.take()
      return ScriptedServer.Reply(status: 201)
    }
    try writeFile(
      config, Array("jobs: {nightly: {from: \(source), exclude: \"*.part\", to: \"\(server.url)/in/\"}}".utf8))
    chmod(config, 0o600)
    let words = ["job", "run", "nightly", "--no-syslog", "--config", config, "--store", store].map { Array($0.utf8) }
    let errors = (1...8).map { "\(program.folder.path)/err\($0)" }
    let runs = try errors.map { path in
      try program.spawn(words, [:]) { posix_spawn_file_actions_addopen(&$0, 2, path, O_WRONLY | O_CREAT, 0o600) }
    }
    let waiting = runs.map { run in WorkerThread { ended.put(BuiltProgram.wait(run).code) } }
    var codes: [Int32] = []
    while codes.count < 7 { codes += try #require(ended.take()) }
    gate.close()
    for thread in waiting { thread.join() }
    codes += ended.take(timeoutMs: 0) ?? []
    let texts = try errors.map(readText)
    #expect(codes == Array(repeating: 0, count: 8), "\(texts)")
    #expect(sent.withLock { $0.sorted() } == ["/in/a", "/in/b"])
    #expect(try run("report", "runs", "--format", "tsv", "--columns", "id").out == "id\nr1\n")
  }

  /// A dead man's switch that received a start expects an end, even if the run left the work to another engine.
  @Test func eachBeginningThatIsToldHasAnEnd() throws {
    let (gate, told) = (Mailbox<Bool>(), Lock<[String]>([]))
    let server = try ScriptedServer { request in
      if request.method == "POST" {
        told.withLock { $0.append(request.target) }
        return ScriptedServer.Reply(status: 200)
      }
      _ = gate.take()
      return ScriptedServer.Reply(status: 201)
    }
    let job = "from: \(source), exclude: \"*.part\", to: \"\(server.url)/in/\", ping: \"\(server.url)/ping\""
    try writeFile(config, Array("jobs: {nightly: {\(job)}}".utf8))
    chmod(config, 0o600)
    let words = ["job", "run", "nightly", "--no-syslog", "--config", config, "--store", store].map { Array($0.utf8) }
    let first = try program.spawn(words, [:]) { _ in }
    while told.withLock({ $0.isEmpty }) { sched_yield() }
    #expect(try program.run(words, environment: [:]).code == 0)
    gate.close()
    #expect(BuiltProgram.wait(first).code == 0)
    #expect(try program.run("callbacks", "deliver", "--store", store).code == 0)
    let heard = told.withLock { $0 }
    #expect(heard.filter { $0 == "/ping/start" }.count == heard.filter { $0 == "/ping" }.count, "\(heard)")
    #expect(heard.contains("/ping"))
  }

  @Test func flagsWinOverTheEnvironmentAndThatOverTheFile() throws {
    func rate(_ words: [String], _ environment: [String: String] = [:]) throws -> String {
      let text = "defaults: {rate: fast}\ndestinations: {box: {url: \"\(receiver.url)/in/\"}}"
      try writeFile(config, Array(text.utf8))
      let all = ["push", "-n", source, "box:x", "--config", config, "--store", store] + words
      return try program.run(all.map { Array($0.utf8) }, environment: environment).err
    }
    #expect(try rate([]).contains("config.yaml:1:18: rate is \"fast\""))
    #expect(try rate([], ["TRANSFERS_RATE": "slow"]).contains("TRANSFERS_RATE is \"slow\""))
    #expect(try rate(["--rate", "1M"], ["TRANSFERS_RATE": "slow"]).isEmpty)
  }

  @Test func aFileThatOthersMayWriteIsRefused() throws {
    chmod(config, 0o660)
    let outcome = try run("job", "list")
    #expect(outcome.code == 78)
    #expect(outcome.err.contains("other users may write to it"))
    #expect(try run("config", "path").code == 0)
  }

  @Test func aFolderThatOthersMayWriteIsRefused() throws {
    defer { chmod(program.folder.path, 0o700) }
    for (mode, code) in [(0o770, 78), (0o707, 78), (0o1777, 0), (0o755, 0)] as [(mode_t, Int32)] {
      chmod(program.folder.path, mode)
      let outcome = try run("job", "list")
      #expect(outcome.code == code, "\(String(mode, radix: 8)): \(outcome.err)")
      #expect(code == 0 || outcome.err.contains("other users may write to its folder"))
    }
    // The same holds for a link in such a folder.
    let shared = program.folder.path + "/shared"
    mkdir(shared, 0o700)
    chmod(shared, 0o777)
    symlink(config, shared + "/config.yaml")
    let words = ["job", "list", "--config", shared + "/config.yaml"].map { Array($0.utf8) }
    #expect(try program.run(words).code == 78)
  }

  @Test func wrongInputEndsAsItIsDocumented() throws {
    #expect(try run("job", "run", "nihgtly").err.contains("Try: transfers job show nightly"))
    #expect(try run("job", "run", "nihgtly").code == 78)
    #expect(try run("push", source, "bxo:sub").code == 64)
    #expect(try run("push", source, "box:../x").code == 64)
    try writeFile(config, Array("jobs: {gone: {from: /nowhere/at/all, to: \"\(receiver.url)/\"}}".utf8))
    #expect(try run("job", "run", "gone").code == 66)
    #expect(try run("check", "--job", "none").code == 3)
    #expect(try run("list", "--job", "none").code == 64)
  }

  @Test func metricsAndUnitsAreWritten() throws {
    let file = program.folder.path + "/m.prom"
    try configure(", prom_file: \(file)")
    #expect(try run("job", "run", "nightly").code == 0)
    let text = try readText(file)
    #expect(text.contains("transfers_job_last_exit_code{job=\"nightly\"} 0\n"))
    #expect(text.contains("transfers_job_files_done{job=\"nightly\"} 2\n"))
    try configure(", prom_file: /dev/full/x")
    #expect(try run("job", "run", "nightly").code == 1)
    let unit = try run("job", "unit", "nightly", "--on-calendar", "daily").out
    #expect(unit.contains("ExecStart=") && unit.contains("SuccessExitStatus=5") && unit.contains("OnCalendar=daily"))
  }

  /// Under systemd, a job has neither the working directory nor the variables of the person who wrote the unit.
  @Test func aUnitNamesWhatTheRunNeeds() throws {
    let folder = program.folder.path
    let here = try #require(getcwd(nil, 0).map { String(cString: $0) })
    // A relative path to the root folder.
    let up = here.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let environment = [
      "TRANSFERS_RATE": "20M", "TRANSFERS_EXCLUDE": "a %b\n\"c\" $d", "TRANSFERS_DRY_RUN": "1", "TRANSFERS_QUIET": "1",
      "TRANSFERS_NONE": "x", "TRANSFERS_STORE": "./sub/l.db",
    ]
    let words = ["job", "unit", "nightly", "--only", "service", "--config", up + folder + "/config.yaml"]
    let unit = try program.run(words.map { Array($0.utf8) }, environment: environment)
    #expect(unit.code == 0, "\(unit.err)")
    let lines = unit.out.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("Environment=") } == [
        #"Environment="TRANSFERS_EXCLUDE=a %%b\n\"c\" $d""#, #"Environment="TRANSFERS_RATE=20M""#,
      ])
    let start = try #require(lines.first { $0.hasPrefix("ExecStart=") })
    #expect(start.contains(" job run --config \(here)/\(up)\(folder)/config.yaml --store \(here)/sub/l.db nightly"))

    // In a unit, a setting ends at the end of the line, even inside quotes.
    let hostile = folder + "/x\nExecStartPre=evil"
    mkdir(hostile, 0o700)
    try writeFile(hostile + "/c.yaml", readBytes(config))
    chmod(hostile + "/c.yaml", 0o600)
    let escaped = try program.run(
      ["job", "unit", "nightly", "--only", "service", "--config", hostile + "/c.yaml"].map { Array($0.utf8) })
    #expect(escaped.code == 0 && escaped.out.contains(#"/x\nExecStartPre=evil/c.yaml""#), "\(escaped.err)")
    #expect(!escaped.out.split(separator: "\n").contains { $0.hasPrefix("ExecStartPre") })
  }

  @Test func theLogGetsOneDatagram() throws {
    let path = program.folder.path + "/log"
    let log = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(log) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafeBytes(of: &address) {
      bind(log, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
    }
    try #require(isBound)
    #expect(SystemLog.send("job=x result=ok", .error, to: path))
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = recv(log, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    #expect(
      String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "<27>transfers[\(getpid())]: job=x result=ok")
    #expect(!SystemLog.send("x", .info, to: path + ".none"))
  }
}
