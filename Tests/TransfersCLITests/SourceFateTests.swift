import Glibc
import Testing

/// Sources that may still be written, and sources that are removed after they were sent, through the built program.
@Suite struct SourceFateTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder)
    mkdir(program.folder.path + "/in", 0o700)
    for name in ["a", "b"] { try writeFile(program.folder.path + "/in/\(name)", Array(name.utf8)) }
  }

  private func push(_ arguments: String..., to place: String = "/up/") throws -> BuiltProgram.Outcome {
    try program.run(
      (["push", folder + "/in", receiver.url + place, "--store", folder + "/l.db"] + arguments).map { Array($0.utf8) })
  }

  /// Runs the program with the ledger of this suite.
  private func transfers(_ words: [String]) throws -> BuiltProgram.Outcome {
    let all: [String] = words + ["--store", folder + "/l.db"]
    return try program.run(all.map { Array($0.utf8) })
  }

  private func isThere(_ name: String) -> Bool { access(folder + name, F_OK) == 0 }

  @Test func aQuietFolderSettlesWithinThePush() throws {
    let outcome = try push("--settle", "50ms")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && isThere("/objects/up/b"))
  }

  @Test func whatSettlesIsLeftWhenNobodyWaits() throws {
    let outcome = try push("--settle", "8h", "--no-wait-for-settling")
    #expect(outcome.code == 0 && !isThere("/objects/up/a"), "\(outcome.err)")
    let files = try program.run("list", "files", "--json", "--columns", "state,cause", "--store", folder + "/l.db")
    #expect(files.out.contains(#""source.settling""#), "\(files.out)")
    #expect(try program.run("store", "check", "--store", folder + "/l.db").code == 0)
  }

  @Test func sourcesGoWhenTheServerProvedEnough() throws {
    let outcome = try push("--after", "delete")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && !isThere("/in/a") && !isThere("/in/b") && isThere("/in"))
    let events = try program.run("report", "events", "--store", folder + "/l.db")
    #expect(events.out.contains("source-deleted"), "\(events.out)")
    #expect(try program.run("store", "check", "--store", folder + "/l.db").code == 0)
  }

  /// The files arrived, so the exit code is 0. Sources that stay are reported once, and counted in status and report.
  @Test(arguments: [[], ["--quiet"]]) func whatStaysIsTold(_ more: [String]) throws {
    mkdir(folder + "/out", 0o700)
    try writeFile(folder + "/out/a", Array("another".utf8))
    let words: [String] = ["push", folder + "/in", receiver.url + "/up/", "--after", "move:\(folder)/out"]
    let outcome = try transfers(words + more)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/in/a") && !isThere("/in/b") && isThere("/out/b"))
    #expect(
      outcome.err.contains(
        "1 source that --after was to delete or move stays: its name already exists in the target folder"))
    for words in [["status"], ["report", "summary"]] {
      let text = try transfers(words).out
      #expect(text.contains("1 that --after was to delete or move"), "\(text)")
      let json = try transfers(words + ["--json"]).out
      #expect(json.contains(#""sources_kept":1,"sources_put_off":0,"sources_to_remove":0"#), "\(json)")
    }
    let again = try program.run("run", "--store", folder + "/l.db")
    #expect(again.code == 0 && !again.err.contains("stays"), "\(again.err)")
  }

  /// The folder that files are moved to, or the source, is named by a symbolic link.
  @Test(arguments: [("in", "link"), ("source", "in/done"), ("in", "out/deep/done")])
  func noFolderAmongTheSourcesTakesThem(_ source: String, _ target: String) throws {
    for name in ["/in/done", "/in/deep", "/in/deep/done"] { mkdir(folder + name, 0o700) }
    for (link, place) in [("link", "in/done"), ("source", "in"), ("out", "in")] { symlink(place, folder + "/" + link) }
    let words: [String] = [
      "push", "\(folder)/\(source)", receiver.url + "/up/", "--after", "move:\(folder)/\(target)",
    ]
    let outcome = try transfers(words)
    #expect(outcome.code == 64, "\(outcome.err)")
    #expect(outcome.err.contains("it is among the sources"), "\(outcome.err)")
    #expect(isThere("/in/a") && !isThere("/objects/up"))
    let excluded = try transfers(words + ["--exclude", "done"])
    #expect(excluded.code == 0, "\(excluded.err)")
    #expect(isThere("/objects/up/a") && !isThere("/in/a") && isThere("/\(target)/a"))
    #expect(try transfers(words + ["--exclude", "done"]).code == 0)
    #expect(try transfers(["list", "files", "--ids", "--all"]).out == "f1\nf2\n")
  }

  /// One clear error before anything is recorded or sent. The folder is not made: a misspelt name would hide files.
  @Test(arguments: ["push", "job"]) func aFolderThatCannotTakeSourcesIsRefusedFirst(_ command: String) throws {
    let other = "/dev/shm/transfers-\(getpid())-\(command)"
    mkdir(other, 0o700)
    defer { rmdir(other) }
    // Nobody can write there, root neither.
    let cases = [
      (folder + "/missing", Int32(66), "there is no such folder"), (other, 64, "it is on another file system"),
      ("/sys/kernel", 64, "it is on another file system"),
    ]
    var (here, there) = (stat(), stat())
    try #require(stat(folder, &here) == 0 && stat(other, &there) == 0)
    for (target, code, cause) in cases where target != other || here.st_dev != there.st_dev {
      var words = ["push", folder + "/in", receiver.url + "/up/", "--after", "move:\(target)"]
      if command == "job" {
        let text = "jobs: {send: {from: \(folder)/in, to: \"\(receiver.url)/up/\", after: \"move:\(target)\"}}\n"
        try writeFile(folder + "/c.yaml", Array(text.utf8))
        chmod(folder + "/c.yaml", 0o600)
        words = ["job", "run", "send", "--no-syslog", "--config", folder + "/c.yaml"]
      }
      let outcome = try transfers(words)
      #expect(outcome.code == code && outcome.err.contains(cause), "\(target): \(outcome.code) \(outcome.err)")
      #expect(outcome.err.split(separator: "\n").count <= 2, "\(outcome.err)")
      #expect(isThere("/in/a") && !isThere("/objects/up"))
      #expect(access(folder + "/missing", F_OK) != 0)
    }
  }

  /// An unavailable file system is not a failure: its sources wait for any number of runs, and are removed when it is
  /// back.
  @Test func whatIsAwayWaits() throws {
    #expect(try transfers(["add", folder + "/in", receiver.url + "/up/", "--after", "delete"]).code == 0)
    #expect(try transfers(["add", folder + "/in", receiver.url + "/more/", "--name", "more"]).code == 0)
    #expect(try transfers(["pause", "--batch", "more"]).code == 0)
    #expect(try transfers(["run"]).code == 5)
    #expect(isThere("/objects/up/a") && isThere("/in/a"), "another batch still needs it")
    rename(folder + "/in", folder + "/away")
    #expect(try transfers(["cancel", "--batch", "more"]).code == 0)
    for _ in 0..<11 { _ = try transfers(["run"]) }
    let status = try transfers(["status", "--json"]).out
    #expect(status.contains(#""sources_kept":0,"sources_put_off":2,"sources_to_remove":2"#), "\(status)")
    let removals = #""removals":[{"cause":"source.missing","message":"its folder does not exist"#
    #expect(status.contains(removals), "\(status)")
    let check = try transfers(["check"])
    #expect(check.code == 0 && check.out.contains("to delete or move: 2 sources, put off: its folder does not exist"))
    #expect(check.out.contains(" put_off=2;;;0 "), "\(check.out)")
    let figures = try transfers(["check", "--json"]).out
    #expect(figures.contains(#""sources_put_off":2"#) && figures.contains(#""cause":"source.missing""#), "\(figures)")
    rename(folder + "/away", folder + "/in")
    _ = try transfers(["run"])
    #expect(!isThere("/in/a") && !isThere("/in/b"))
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// Two batches send one source; one deletes it and one moves it. It is moved, and `add` reports that.
  @Test(arguments: [["delete", "move"], ["move", "delete"]]) func aMoveComesBeforeADeletion(_ fates: [String]) throws {
    mkdir(folder + "/out", 0o700)
    var told = ""
    for fate in fates {
      let word = fate == "move" ? "move:\(folder)/out" : fate
      let outcome = try transfers(["add", folder + "/in", receiver.url + "/\(fate)/", "--after", word])
      #expect(outcome.code == 0, "\(outcome.err)")
      told += outcome.err
    }
    #expect(told.contains(": 2; they are moved, and not deleted"), "\(told)")
    #expect(try transfers(["run"]).code == 0)
    for name in ["a", "b"] {
      #expect(isThere("/objects/delete/\(name)") && isThere("/objects/move/\(name)"))
      #expect(!isThere("/in/\(name)") && isThere("/out/\(name)"))
    }
    let status = try transfers(["status", "--json"]).out
    #expect(status.contains(#""sources_kept":0,"sources_put_off":0,"sources_to_remove":0"#), "\(status)")
    #expect(try transfers(["store", "check"]).code == 0)
  }

  @Test func whatWasSentBeforeStaysAndThatIsTold() throws {
    #expect(try push().code == 0)
    let outcome = try push("--after", "delete", "--json")
    #expect(outcome.code == 0 && isThere("/in/a"), "\(outcome.err)")
    #expect(outcome.err.contains("an earlier batch sent them and keeps them: 2"), "\(outcome.err)")
    #expect(outcome.out.contains(#""staying":2"#), "\(outcome.out)")
  }

  @Test func onlyWhatIsReadyIsSent() throws {
    try writeFile(folder + "/in/a.done", [])
    let outcome = try push("--ready-file", "{path}.done", "--after", "delete")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && !isThere("/objects/up/b") && !isThere("/objects/up/a.done"))
    #expect(!isThere("/in/a") && !isThere("/in/a.done") && isThere("/in/b"))
  }

  /// A file that is longer than the limit does not keep others from being sent, and is reported.
  @Test func whatIsLongerThanTheLimitIsNamedAfterTheOthersAreSent() throws {
    try writeFile(folder + "/in/a", [UInt8](repeating: 1, count: 30_000))
    for n in 0..<200 { try writeFile(folder + "/in/b\(n)", [UInt8](repeating: 1, count: 40)) }
    let outcome = try push("--max-bytes", "20000")
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(!isThere("/objects/up/a") && isThere("/objects/up/b"))
    #expect((0..<200).allSatisfy { isThere("/objects/up/b\($0)") }, "\(outcome.err)")
    #expect(outcome.err.contains("cannot send \(folder)/in/a: it has 29.2 KiB"), "\(outcome.err)")
    #expect(outcome.err.contains("--max-bytes 20000"), "\(outcome.err)")
    #expect(try program.run("run", "--max-bytes", "40000", "--store", folder + "/l.db").code == 0)
    #expect(isThere("/objects/up/a"))
  }

  /// Only the long file is ready while the short one waits for its credential, which a program supplies.
  @Test func aBodyThatIsTooLongDoesNotEndTheRunWhileOthersArePrepared() throws {
    for name in ["/long", "/short"] { mkdir(folder + name, 0o700) }
    try writeFile(folder + "/long/l", [UInt8](repeating: 1, count: 30_000))
    try writeFile(folder + "/short/s", [1])
    #expect(try transfers(["add", folder + "/long", receiver.url + "/up/"]).code == 0)
    let auth = ["--auth", "bearer=command:/bin/sh -c 'echo token'"]
    #expect(try transfers(["add", folder + "/short", receiver.url + "/up/"] + auth).code == 0)
    let outcome = try transfers(["run", "--max-bytes", "20000"])
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(isThere("/objects/up/s") && !isThere("/objects/up/l"), "\(outcome.err)")
  }

  @Test func aLimitInBytesLeavesTheRest() throws {
    for name in ["a", "b"] { try writeFile(folder + "/in/\(name)", [UInt8](repeating: 1, count: 1_000)) }
    let outcome = try push("--max-bytes", "1500")
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(isThere("/objects/up/a") != isThere("/objects/up/b"))
    #expect(try program.run("run", "--store", folder + "/l.db").code == 0)
    #expect(isThere("/objects/up/a") && isThere("/objects/up/b"))
  }
}
