import Glibc
import Testing

/// `--output` writes the complete result, or leaves the previous file.
@Suite struct OutputFileTests {
  let program: BuiltProgram
  let store: String
  private var target: String { program.folder.path + "/out.csv" }

  init() throws {
    program = try BuiltProgram()
    store = try ReadingTests.shared.get().store
  }

  private func list(_ output: String, _ more: [String] = []) throws -> BuiltProgram.Outcome {
    let arguments = ["list", "files", "--format", "csv", "--store", store, "-o", output] + more
    return try program.run(arguments.map { Array($0.utf8) })
  }

  private func entries() -> Set<String> {
    guard let directory = opendir(program.folder.path) else { return [] }
    defer { closedir(directory) }
    var names: Set<String> = []
    while let entry = readdir(directory) {
      names.insert(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.subtracting([".", "..", "stdout", "stderr"])
  }

  @Test func theFileHasWhatStandardOutputWouldHave() throws {
    let expected = try list("-").out
    #expect(expected.hasPrefix("id,uid,"))
    let outcome = try list(target)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.isEmpty)
    #expect(try readText(target) == expected)
    #expect(entries() == ["out.csv"])
    var facts = stat()
    #expect(stat(target, &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
  }

  @Test func anOldFileIsReplacedThroughALink() throws {
    try writeFile(target, Array("old".utf8))
    #expect(symlink("out.csv", program.folder.path + "/link") == 0)
    #expect(try list(program.folder.path + "/link").code == 0)
    #expect(try readText(target).hasPrefix("id,uid,"))
    #expect(entries() == ["out.csv", "link"])
  }

  @Test(arguments: [["f99"], ["--columns", "nothing"], ["--state", "lost"]])
  func aCommandThatFailsLeavesTheOldFile(_ more: [String]) throws {
    try writeFile(target, Array("old".utf8))
    let outcome = try list(target, more)
    #expect(outcome.code == 64)
    #expect(try readText(target) == "old")
    #expect(entries() == ["out.csv"])
  }

  /// The rows of a statement that ran out of time are not its result: "no rows" and an empty list would be wrong.
  @Test func rowsThatAreIncompleteAreNotAResult() throws {
    try writeFile(target, Array("old".utf8))
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
    func query(_ more: [String]) throws -> BuiltProgram.Outcome {
      let arguments = ["store", "sql", endless, "--timeout", "10ms", "--store", store] + more
      return try program.run(arguments.map { Array($0.utf8) })
    }
    for format in ["table", "json", "ndjson", "csv", "markdown"] {
      let outcome = try query(["--format", format, "-o", target])
      #expect(outcome.code == 124)
      #expect(try readText(target) == "old", "\(format)")
      #expect(entries() == ["out.csv"])
    }
    #expect(try query([]).out.isEmpty)
    #expect(try !query(["--json"]).out.contains("generated_at"))
  }

  @Test func aFailureThatIsTheResultIsKept() throws {
    let outcome = try program.run(
      "push", "--json", "--store", program.folder.path + "/l.db", "-o", target, program.folder.path + "/stderr",
      "http://127.0.0.1:1/x/")
    #expect(outcome.code != 0)
    #expect(try readText(target).contains(#""schema":"transfers.run/1""#))
  }

  @Test func aDirectoryIsRefused() throws {
    for output in [program.folder.path, program.folder.path + "/", ""] {
      let outcome = try list(output)
      #expect(outcome.code == 64)
      #expect(outcome.err.contains("--output"))
      #expect(outcome.err.split(separator: "\n").count == 1)
    }
    #expect(entries().isEmpty)
  }

  @Test func theLedgerIsNeverReplaced() throws {
    let own = program.folder.path + "/ledger.db"
    _ = try FilledLedger(in: program.folder)
    let before = try readText(own)
    #expect(symlink("ledger.db", target) == 0)
    for output in [own, target, own + "-wal", own + ".gate"] where access(output, F_OK) == 0 {
      let outcome = try program.run("list", "--store", own, "-o", output)
      #expect(outcome.code == 64)
      #expect(outcome.err.contains("is a file of the ledger"), "\(outcome.err)")
    }
    #expect(try readText(own) == before)
  }

  @Test func aNameThatSQLiteWouldReadIsRefusedAlsoWhenNothingHasIt() throws {
    let folder = program.folder.path
    let own = folder + "/ledger.db"
    _ = try FilledLedger(in: program.folder)
    #expect(symlink(folder, folder + "/way") == 0)
    for output in [own + "-journal", folder + "/way/ledger.db-journal", folder + "/./ledger.db-shm"] {
      let outcome = try program.run("list", "--store", own, "-o", output)
      #expect(outcome.code == 64)
      #expect(outcome.err.contains("is a file of the ledger"), "\(outcome.err)")
      #expect(access(own + "-journal", F_OK) != 0)
    }
    #expect(try program.run("list", "--store", own, "-o", folder + "/way/other.db-journal").code == 0)
  }

  /// This holds whichever ledger the command opens, and also if it opens none.
  @Test func noOtherDatabaseIsReplacedOrGetsAFileBesideIt() throws {
    let folder = program.folder.path
    let (own, other) = (folder + "/ledger.db", folder + "/x.db")
    _ = try FilledLedger(in: program.folder)
    #expect(rename(own, other) == 0)
    let before = try readBytes(other)
    #expect(symlink("x.db", folder + "/link") == 0)
    let commands = [["list", "--store", store], ["store", "merge", folder + "/all.db", other], ["help", "sources"]]
    for output in ["", "-wal", "-journal", ".key", ".sending", ".inflight"].map({ other + $0 }) + [folder + "/link"] {
      for command in commands where command[0] != "help" || !output.hasSuffix("/link") {
        let outcome = try program.run((command + ["-o", output]).map { Array($0.utf8) })
        #expect(outcome.code == 64, "\(command) \(output) \(outcome)")
      }
      let refused = try list(output)
      #expect(refused.err.contains("is a file of the SQLite database \"\(other)\""), "\(refused.err)")
      let snapshot = try program.run("store", "snapshot", output, "--store", store)
      #expect(snapshot.code == 64, "\(snapshot)")
    }
    #expect(try readBytes(other) == before)
    #expect(access(other + "-wal", F_OK) != 0 && access(other + ".key", F_OK) != 0)
  }

  @Test func aLinkThatLeadsNowhereStays() throws {
    #expect(symlink("gone", target) == 0)
    let outcome = try list(target)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("is a dangling symbolic link"), "\(outcome.err)")
    #expect(entries() == ["out.csv"])
    var facts = stat()
    #expect(lstat(target, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func whatWasFollowedIsKeptAtTheEnd() throws {
    let running = try program.start("follow", "--since", "2020-01-01", "--json", "--store", store, "-o", target)
    try waitForTemporary(size: 1)
    running.signal(SIGUSR1)
    running.signal(SIGINT)
    let outcome = try running.wait()
    #expect((outcome.code, outcome.signal) == (0, 0), "\(outcome.err)")
    #expect(try readText(target).contains(#""type":"summary""#))
    #expect(entries().filter { $0.hasPrefix(".") } == [])
  }

  @Test func aCommandThatASignalEndsLeavesNothing() throws {
    let running = try program.start("wait", "f5", "--store", store, "-o", target)
    try waitForTemporary()
    running.signal(SIGUSR1)
    running.signal(SIGTERM)
    #expect(try running.wait().signal == SIGTERM)
    #expect(entries().filter { !$0.hasPrefix("std") } == [])
  }

  private func waitForTemporary(size: off_t = 0) throws {
    var facts = stat()
    while true {
      let name = entries().first { $0.hasPrefix(".transfers-") }
      if let name, stat("\(program.folder.path)/\(name)", &facts) == 0, facts.st_size >= size { return }
      sched_yield()
    }
  }

  @Test func aPlaceThatIsNotThereIsAnError() throws {
    let outcome = try list(program.folder.path + "/no/such/out")
    #expect(outcome.code == 1)
    #expect(outcome.err.hasPrefix("transfers: error[output]: open \""))
  }

  @Test func aDeviceIsWrittenDirectly() throws {
    #expect(try list("/dev/null").code == 0)
    var facts = stat()
    #expect(stat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
    let outcome = try list("/dev/full")
    #expect(outcome.code == 1)
    #expect(outcome.err.contains("no space left on device"))
  }

  @Test func theNameNeedNotBeText() throws {
    let name = Array((program.folder.path + "/n").utf8) + [0xFF]
    let outcome = try program.run([Array("help".utf8), Array("-o".utf8), name])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(access(name.map { CChar(bitPattern: $0) } + [0], R_OK) == 0)
  }
}
