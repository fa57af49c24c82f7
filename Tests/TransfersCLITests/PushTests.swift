import Glibc
import Testing
import TransferModel

/// `push` through the built program, against the bundled server: its output and exit code.
@Suite struct PushTests {
  let program: BuiltProgram
  /// Keeps the servers running until the test ends.
  private let servers = Lock<[RunningReceiver]>([])
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var source: String { folder + "/src" }

  init() throws {
    program = try BuiltProgram()
    mkdir(source, 0o700)
    for name in ["a", "b", "c"] { try writeFile("\(source)/\(name)", Array("content of \(name)".utf8)) }
  }

  private func receiver(_ script: String = "") throws -> RunningReceiver {
    let receiver = try RunningReceiver(in: program.folder, script: script)
    servers.withLock { $0.append(receiver) }
    return receiver
  }

  @Test func pushingTwiceSendsOnce() throws {
    let receiver = try receiver()
    let first = try program.run("push", source, receiver.url + "/in/", "--store", store)
    #expect(first.code == 0, "\(first.err)")
    #expect(first.out.hasPrefix("b1: 3 new, 0 unchanged, 36 B to \(receiver.url)/in/\nb1 ok: 3 done · 36 B in "))
    #expect(try readText(receiver.root + "/in/b") == "content of b")
    let second = try program.run("push", source, receiver.url + "/in/", "--store", store)
    #expect(second.code == 0)
    #expect(
      second.out.hasPrefix("0 new, 3 unchanged, 0 B to \(receiver.url)/in/\nok: 0 done, 3 unchanged · "),
      "\(second.out)")
    #expect(try program.run("list", "batches", "--store", store).out.split(separator: "\n").count == 2)
    #expect(try program.run("list", "attempts", "--store", store).out.split(separator: "\n").count == 4)
  }

  @Test func namesAreBytesFromTheArgumentToTheServer() throws {
    let receiver = try receiver()
    let name: [UInt8] = Array(source.utf8) + [0x2F, 0x78, 0xFF, 0x0A, 0x1B]
    var path = name.map { CChar(bitPattern: $0) } + [0]
    let descriptor = open(&path, O_WRONLY | O_CREAT, 0o600)
    #expect(write(descriptor, "hostile", 7) == 7)
    close(descriptor)
    let destination = Array("\(receiver.url)/in/".utf8)
    let outcome = try program.run(
      [Array("push".utf8), name, destination, Array("--store".utf8), Array(store.utf8)])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try program.run("list", "--store", store).out.contains(#"/x\xff\x0a\x1b"#))
    var stored = Array((receiver.root + "/in").utf8).map { CChar(bitPattern: $0) }
    stored += [0x2F, 0x78, CChar(bitPattern: 0xFF), 0x0A, 0x1B, 0]
    #expect(access(&stored, F_OK) == 0)
  }

  @Test func oneRefusedFileIsPartial() throws {
    let receiver = try receiver("match PUT /in/b : status=413")
    let outcome = try program.run("push", source, receiver.url + "/in/", "--store", store)
    #expect(outcome.code == 3)
    #expect(outcome.out.contains("b1 partial: 2 done, 1 failed · "))
    #expect(outcome.out.contains("    1  http.413  the server answered 413"))
    #expect(
      outcome.out.contains("Next: transfers report failures --batch b1     transfers retry --state failed --batch b1\n")
    )
    #expect(
      outcome.err.hasSuffix(
        "transfers: error[partial]: 1 file failed, 2 done. Try: transfers report failures --batch b1\n"))
  }

  @Test func aBrokenDestinationDoesNotPileUpFailures() throws {
    let receiver = try receiver("match PUT * nth=1 times=18 : status=404")
    for push in 1...6 {
      let outcome = try program.run("push", source, receiver.url + "/in/", "--store", store)
      #expect(outcome.code == 4, "\(outcome)")
      #expect(outcome.out.contains(push == 1 ? "3 new" : "0 new, 0 unchanged, 3 that failed before"), "\(outcome.out)")
    }
    #expect(try program.run("list", "files", "--store", store, "--ids").out == "f1\nf2\nf3\n")
    #expect(try program.run("wait", "--all", "--store", store).code == 4)
    let last = try program.run("push", source, receiver.url + "/in/", "--store", store)
    #expect(last.code == 0 && last.out.contains("\nok: 3 done · "), "\(last)")
    #expect(try program.run("wait", "--all", "--store", store).code == 0)
    #expect(try program.run("run", "--store", store).code == 0)
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  @Test func everyFileRefusedIsAllFailed() throws {
    let receiver = try receiver("match PUT * : status=403")
    let outcome = try program.run("push", source, receiver.url + "/in/", "--store", store, "--json")
    #expect(outcome.code == 4)
    #expect(outcome.out.contains(#""result":"all_failed""#))
    #expect(outcome.out.split(separator: "\n").count == 1)
    #expect(outcome.err.contains(#"{"code":4,"error":"all_failed""#))
    let failures = try program.run("report", "failures", "--store", store, "--last")
    #expect(failures.out.contains("http.403"))
  }

  @Test func aMissingSourceAndAnUnknownSchemeStartNothing() throws {
    let missing = try program.run("push", source + "/none", "http://127.0.0.1:1/in/", "--store", store)
    #expect(missing.code == 66)
    #expect(missing.err.hasPrefix("transfers: error[no_source]: "))
    let scheme = try program.run("push", source, "gopher://127.0.0.1/in/", "--store", store)
    #expect(scheme.code == 64)
    #expect(access(store, F_OK) != 0)
  }

  @Test func wrongColumnsAreFoundOutBeforeAnythingIsDone() throws {
    for command in ["push", "add"] {
      for format in ["json", "csv", "table"] {
        let outcome = try program.run(
          command, source, "http://127.0.0.1:1/in/", "--store", store, "--columns", "bytes,nothing", "--format", format)
        #expect(outcome.code == 64)
        #expect(outcome.err.contains("unknown column \""), "\(outcome.err)")
        #expect(access(store, F_OK) != 0)
      }
    }
    let receiver = try receiver()
    let good = try program.run(
      "push", source, receiver.url + "/in/", "--store", store, "--json", "--columns",
      "files.done,added.files.added,failures")
    #expect(good.code == 0, "\(good.err)")
    #expect(
      good.out.contains(#""data":{"added":{"files":{"added":3}},"failures":[],"files":{"done":3}}"#), "\(good.out)")
    #expect(try program.run("pause", "--all", "--store", store, "--format", "csv", "--columns", "x").code == 64)
    #expect(try program.run("run", "--store", store, "--columns", "added.files").code == 64)
  }

  @Test func theRulesOfAPlanAreCountedInNumbers() throws {
    let outcome = try program.run(
      "push", "-n", source, "http://127.0.0.1:1/in/", "--store", store, "--exclude", "b", "--json")
    #expect(outcome.out.contains(#""excluded_by":{"--exclude b":1}"#), "\(outcome.out)")
  }

  @Test func dryRunTouchesNothing() throws {
    let outcome = try program.run(
      "push", "-n", source, "http://127.0.0.1:1/in/", "--store", store, "--exclude", "b", "--include", "*")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(
      outcome.out.hasSuffix(
        "would send 2 files (2 new, 0 changed), 24 B in 2 chunks, 2 requests; 0 unchanged, 1 excluded (1 by --exclude b)\n"
      ))
    #expect(access(store, F_OK) != 0)
  }

  @Test func termDrainsAndTheNextRunFinishes() throws {
    let receiver = try receiver("match PUT * : hold=put")
    let running = try program.start("push", source, receiver.url + "/in/", "--store", store, "--workers", "1")
    try receiver.waitUntilHeld("put")
    running.signal(SIGTERM)
    try running.waitUntilSaid("nothing is lost")
    try receiver.release("put")
    let outcome = try running.wait()
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(outcome.signal == 0)
    #expect(outcome.err.contains(" – a second signal stops now; nothing is lost"))
    #expect(
      outcome.err.contains("transfers: error[work_left]: stopped on request with 2 files left. Try: transfers run\n"))
    #expect(try program.run("run", "--store", store).code == 0)
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  /// `timeout` signals the process and immediately afterwards its group.
  @Test func theSameSignalTwiceAtOnceLetsRequestsEnd() throws {
    let receiver = try receiver("match PUT * : hold=put")
    let running = try program.start("push", source, receiver.url + "/in/", "--store", store, "--workers", "1")
    try receiver.waitUntilHeld("put")
    for _ in 0..<3 { running.signal(SIGTERM) }
    try running.waitUntilSaid("nothing is lost")
    try receiver.release("put")
    let outcome = try running.wait()
    #expect((outcome.code, outcome.signal) == (5, 0), "\(outcome)")
  }

  @Test func theSecondSignalEndsTheProcessByItself() throws {
    let receiver = try receiver("match PUT * : hold=put")
    let running = try program.start("push", source, receiver.url + "/in/", "--store", store)
    try receiver.waitUntilHeld("put")
    running.signal(SIGTERM)
    try running.waitUntilSaid("nothing is lost")
    running.signal(SIGINT)
    let outcome = try running.wait()
    #expect(outcome.signal == SIGINT)
    #expect(
      outcome.err.contains("transfers: error[interrupted]: stopped immediately with 3 files left. Try: transfers run\n")
    )
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  @Test func aSecondEngineIsLockedOutButAPushWaits() throws {
    let receiver = try receiver("match PUT * : hold=put")
    let first = try program.start("push", source, receiver.url + "/in/", "--store", store, number: 1)
    try receiver.waitUntilHeld("put")
    let run = try program.run("run", "--store", store)
    #expect(run.code == 6, "\(run.err)")
    #expect(run.err.hasPrefix("transfers: error[locked]: "))
    try writeFile(source + "/d", [1, 2, 3])
    let second = try program.start("push", source, receiver.url + "/in/", "--store", store, number: 2)
    let third = try program.start("push", source + "/a", receiver.url + "/in/", "--store", store, number: 3)
    for push in [second, third] { try push.waitUntilSaid("another engine owns the ledger") }
    try receiver.release("put")
    let queued = try third.wait()
    #expect(queued.code == 0, "\(queued.err)")
    #expect(queued.out.contains("0 new, 0 unchanged, 1 already queued") && queued.out.contains("\nok: 1 done · "))
    let both = try second.wait()
    #expect(both.code == 0, "\(both.err)")
    #expect(both.out.contains("b2 ok: 4 done · 39 B in "), "the new file and those that the first push queued")
    #expect(try first.wait().code == 0)
    #expect(try readText(receiver.root + "/in/d").utf8.count == 3)
  }

  @Test func changedContentThatIsNotRecordedIsWorkLeft() throws {
    let receiver = try receiver("match PUT * : late-hold=put times=1")
    let file = source + "/a"
    let first = try program.start("push", file, receiver.url + "/in/", "--store", store, number: 1)
    try receiver.waitUntilHeld("put")
    try writeFile(folder + "/new", Array("newer content of a".utf8))
    #expect(rename(folder + "/new", file) == 0)
    let added = try program.run("add", file, receiver.url + "/in/", "--store", store)
    #expect(added.code == 5 && added.out.hasPrefix("0 new, 0 unchanged, 1 busy, "), "\(added)")
    #expect(
      added.err.hasSuffix(
        "transfers: error[work_left]: 1 changed file not recorded, because an older version was being sent, "
          + "or another file of that name is paused. Try: run the same command again when that one has ended\n"),
      "\(added.err)")
    let plan = try program.run("push", "-n", file, receiver.url + "/in/", "--store", store)
    #expect(plan.out.contains("1 busy") && !plan.out.contains("queued"), "\(plan)")
    let quick = try program.run("push", file, receiver.url + "/in/", "--store", store, "--no-wait", "--json")
    #expect(quick.code == 5 && quick.out.contains(#""busy":1"#) && quick.out.contains(#""queued":0"#), "\(quick)")
    let waiting = try program.start("push", file, receiver.url + "/in/", "--store", store, number: 2)
    try waiting.waitUntilSaid("another engine owns the ledger")
    try receiver.release("put")
    let outcome = try waiting.wait()
    #expect(outcome.code == 0, "\(outcome)")
    _ = try first.wait()
    #expect(try readText(receiver.root + "/in/a") == "newer content of a")
  }

  /// Its file was busy; when the older version has ended, it is recorded again. Here the push then waits for its copy.
  @Test func aSignalBetweenTheRunsOfAPushStopsTheNextRun() throws {
    let receiver = try receiver("match PUT * nth=1 : late-hold=put")
    let first = try program.start("push", source + "/a", receiver.url + "/in/", "--store", store, number: 1)
    while access(receiver.root + "/in/a", F_OK) != 0 { sched_yield() }
    try writeFile(source + "/a", Array("newer content of a".utf8))
    let second = try program.start(
      "push", "--stage", source + "/a", receiver.url + "/in/", "--store", store, number: 2)
    try second.waitUntilSaid("another engine owns the ledger")
    let copies = open(store + ".staged", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(copies) }
    #expect(flock(copies, LOCK_EX) == 0)
    try receiver.release("put")
    _ = try first.wait()
    let states = ["store", "sql", "SELECT DISTINCT state FROM file", "--store", store]
    while try !program.run(states.map { Array($0.utf8) }).out.contains("settling") {}
    second.signal(SIGTERM)
    try second.waitUntilSaid("stop")
    flock(copies, LOCK_UN)
    let outcome = try second.wait()
    #expect((outcome.code, outcome.signal) == (5, 0), "\(outcome)")
    #expect(try readText(receiver.root + "/in/a") != "newer content of a")
    #expect(try program.run("run", "--store", store).code == 0)
    #expect(try readText(receiver.root + "/in/a") == "newer content of a")
  }

  @Test func aPushNeedNotWaitForAnotherEngine() throws {
    let receiver = try receiver("match PUT * : hold=put")
    let first = try program.start("push", source, receiver.url + "/in/", "--store", store, number: 1)
    try receiver.waitUntilHeld("put")
    let quick = try program.run("push", source, receiver.url + "/two/", "--store", store, "--no-wait")
    #expect(quick.code == 0 && quick.err.contains("it sends these files\n"), "\(quick)")
    #expect(quick.out.hasPrefix("b2: 3 new, 0 unchanged, "))
    let json = try program.run("push", source, receiver.url + "/two/", "--store", store, "--no-wait", "--json")
    #expect(json.code == 0 && json.out.contains(#""queued":3"#) && json.out.contains("transfers.add/1"), "\(json)")
    let bounded = try program.run("push", source, receiver.url + "/in/", "--store", store, "--wait", "300ms")
    #expect(bounded.code == 124, "\(bounded)")
    #expect(bounded.err.hasSuffix("continues with these files. Try: transfers wait b1\n"), "\(bounded.err)")
    #expect(try program.run("push", source, "http://h/", "--wait", "1s", "--no-wait").code == 64)
    first.signal(SIGKILL)
    _ = try first.wait()
  }

  /// Another process holds the gate, for example a stopped one. Here it is this test.
  @Test func whatWaitsForALockCanBeStopped() throws {
    let receiver = try receiver()
    #expect(try program.run("add", source, receiver.url + "/in/", "--store", store).code == 0)
    let gate = open(store + ".gate", O_RDWR | O_CLOEXEC)
    defer { close(gate) }
    #expect(flock(gate, LOCK_EX) == 0)
    let run = try program.start("run", "--store", store)
    while !((try? readText(store + ".lock")) ?? "").contains("pid \(run.pid) ") { sched_yield() }
    run.signal(SIGTERM)
    #expect(try run.wait().signal == SIGTERM)
    flock(gate, LOCK_UN)
    #expect(try program.run("run", "--store", store).code == 0)
  }

  @Test func onlyItsOwnFilesCountForAPush() throws {
    let receiver = try receiver("match PUT /bad/* : status=413\nmatch PUT /in/b : status=413")
    #expect(try program.run("add", source, receiver.url + "/bad/", "--store", store).code == 0)
    #expect(
      try program.run("add", "--endpoint-url", receiver.url, source, "s3://bucket/in/", "--store", store).code == 0)
    let good = try program.run("push", source + "/a", receiver.url + "/in/", "--store", store)
    #expect(good.code == 0, "\(good.err)")
    #expect(good.out.contains("b3 ok: 1 done · 12 B in "))
    #expect(good.err.contains("nothing of batch b2 could be sent: "))
    #expect(try program.run("add", source + "/b", source + "/c", receiver.url + "/in/", "--store", store).code == 0)
    let queued = try program.run("push", source, receiver.url + "/in/", "--store", store)
    #expect(queued.code == 3)
    #expect(queued.out.contains("partial: 1 done, 1 failed, 1 unchanged · 12 B in "), "\(queued.out)")
    #expect(queued.err.hasSuffix("Try: transfers report failures --batch b4\n"), "\(queued.err)")
  }
}
