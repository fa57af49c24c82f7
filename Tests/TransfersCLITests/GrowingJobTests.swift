import Glibc
import Testing

/// Jobs with `growing: segments`, and what does not fit it, through the built program.
@Suite struct GrowingJobTests {
  private var program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder)
    mkdir(program.folder.path + "/in", 0o700)
    try writeFile(program.folder.path + "/in/app.log", Array("one\n".utf8))
  }

  private func transfers(_ words: [String]) throws -> BuiltProgram.Outcome {
    let all: [String] = words + ["--store", folder + "/l.db"]
    return try program.run(all.map { Array($0.utf8) })
  }

  private func job(_ words: [String], _ more: String = "", to place: String = "up/") throws -> BuiltProgram.Outcome {
    let to = "\"\(receiver.url)/\(place)\""
    let config = "jobs:\n  logs: {from: \(folder)/in, to: \(to), growing: segments\(more)}\n"
    try writeFile(folder + "/config.yaml", Array(config.utf8))
    chmod(folder + "/config.yaml", 0o600)
    return try transfers(["job"] + words + ["--config", folder + "/config.yaml"])
  }

  private func append(_ text: String) throws {
    let file = open(folder + "/in/app.log", O_WRONLY | O_APPEND)
    try #require(file >= 0)
    defer { close(file) }
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
  }

  private func stored(_ name: String) -> String? { try? readText("\(folder)/objects/up/\(name)") }

  /// The segment that begins at `start`.
  private func segment(_ start: Int, of name: String = "app.log") -> String? {
    var found = glob_t()
    defer { globfree(&found) }
    let pattern = "\(folder)/objects/up/\(name).*." + String(repeating: "0", count: 14) + "\(start)"
    guard glob(pattern, 0, nil, &found) == 0, let path = found.gl_pathv[0] else { return nil }
    return try? readText(String(cString: path))
  }

  @Test func aJobSendsWhatWasAppended() throws {
    let run = ["run", "logs", "--no-syslog", "-v"]
    #expect(try job(run).code == 0)
    try append("two\n")
    let plan = try job(["run", "-n", "logs"])
    #expect(plan.out.contains(".000000000000004"), "\(plan.out)")
    let second = try job(run)
    #expect(second.code == 0 && second.out.contains("files=1 done=1"), "\(second.err)")
    #expect(segment(0) == "one\n")
    #expect(segment(4) == "two\n")
    let third = try job(run)
    #expect(third.out.contains(" batch=- result=ok files=0 "), "\(third.out)")
    let series = try transfers(["store", "sql", "SELECT bytes, segments, bytes_done FROM v_series", "--format", "csv"])
    #expect(series.out.contains("8,2,8"), "\(series.out)")
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// A log that is longer than this test lets files be. Those before and after it are recorded and sent.
  @Test mutating func aLogThatDoesNotFitDoesNotDelayOthers() throws {
    try writeFile(folder + "/in/big.log", Array(repeating: 0x61, count: 5 << 20))
    try writeFile(folder + "/in/z.log", Array("z\n".utf8))
    let run = ["run", "logs", "--no-syslog"]
    program.fileLength = 8_192
    for n in 1...2 {
      let outcome = try job(run)
      #expect(outcome.code == 3, "\(outcome.err)")
      let said = n == 1 ? outcome.err : try transfers(["report", "failures"]).out
      let lines = said.split(separator: "\n").filter { $0.contains("/in/big.log") }
      let told = n == 1 ? "file too large; allow longer files" : "local.io"
      #expect(lines.count == 1 && lines[0].contains(told), "\(said)")
      #expect(try names(in: folder + "/l.db.staged").isEmpty)
    }
    #expect(segment(0) == "one\n" && segment(0, of: "z.log") == "z\n")
    let rows = try transfers(["store", "sql", "SELECT count(*) FROM v_files", "--format", "csv"])
    #expect(rows.out.split(whereSeparator: \.isNewline).last == "3", "one row says why: \(rows.out)")
    program.fileLength = nil
    let last = try job(run)
    #expect(last.code == 0, "\(last.err)")
    #expect(segment(0, of: "big.log")?.utf8.count == 5 << 20)
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// The same for copies of whole files.
  @Test mutating func aStagedCopyThatDoesNotFitDoesNotDelayOthers() throws {
    try writeFile(folder + "/in/big", Array(repeating: 0x61, count: 5 << 20))
    try writeFile(folder + "/in/z", Array("z\n".utf8))
    program.fileLength = 8_192
    let push = try transfers(["push", folder + "/in", receiver.url + "/up/", "--stage"])
    #expect(push.code == 3, "\(push.err)")
    #expect(push.err.contains("/in/big: local.io: cannot copy it into"), "\(push.err)")
    #expect(stored("app.log") == "one\n" && stored("z") == "z\n" && stored("big") == nil)
    #expect(try names(in: folder + "/l.db.staged").isEmpty)
    #expect(try transfers(["run"]).code == 5)
    program.fileLength = nil
    #expect(try transfers(["run"]).code == 0)
    #expect(stored("big")?.utf8.count == 5 << 20)
  }

  @Test(arguments: ["after: delete", "settle: 1s", "dedupe: true", "stage: true", "ready_file: \"{path}.ok\""])
  func whatDoesNotFitIsRefusedInAJob(_ more: String) throws {
    let outcome = try job(["run", "logs", "--no-syslog"], ", " + more)
    #expect(outcome.code == 78 && outcome.err.contains("\"growing\" segments and \""), "\(outcome.err)")
    #expect(access(folder + "/objects/up", F_OK) != 0)
  }

  /// A mistake in the configuration of the job, or of the command.
  @Test func oneObjectCannotHaveManySegments() throws {
    let outcome = try job(["run", "logs", "--no-syslog"], to: "up")
    #expect(outcome.code == 78 && outcome.err.contains("names one object"), "\(outcome.err)")
    let push = ["push", folder + "/in", receiver.url + "/up", "--growing", "segments"]
    #expect(try transfers(push).code == 64)
    #expect(access(folder + "/objects/up", F_OK) != 0)
  }

  @Test func whatDoesNotFitIsRefusedOnTheCommandLine() throws {
    let push: [String] = ["push", folder + "/in", receiver.url + "/up/", "--growing"]
    for words in [["segments", "--dedupe"], ["segments", "--after", "delete"], ["parts"]] {
      #expect(try transfers(push + words).code == 64, "\(words)")
    }
    #expect(try transfers(push + ["whole", "--dedupe"]).code == 0)
    #expect(stored("app.log") == "one\n")
    #expect(try job(["plan", "logs"]).code == 64)
  }
}
