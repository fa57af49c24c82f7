import Glibc
import Testing

/// `--on-batch-done` and `--on-batch-failed` in the real program: the end of a batch is reported once.
@Suite struct BatchCallbackTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }
  private var told: String { get throws { try readText(folder + "/told") } }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder, script: "match PUT /up/bad times=1 : status=400\n")
    mkdir(folder + "/in", 0o700)
    try writeFile(folder + "/told", [])
    try writeFile(folder + "/tell", Array("#!/bin/sh\ncat >> '\(folder)/told'\necho >> '\(folder)/told'\n".utf8))
    chmod(folder + "/tell", 0o700)
  }

  private func transfers(_ words: [String]) throws -> BuiltProgram.Outcome {
    let all: [String] = words + ["--store", folder + "/l.db"]
    return try program.run(all.map { Array($0.utf8) })
  }

  private func push(_ names: [String]) throws -> BuiltProgram.Outcome {
    for name in names { try writeFile(folder + "/in/\(name)", Array(name.utf8)) }
    let receivers: [String] = ["--on-batch-done", "exec:\(folder)/tell", "--on-batch-failed", "exec:\(folder)/tell"]
    return try transfers(["push", folder + "/in", receiver.url + "/up/"] + receivers)
  }

  private func count(_ text: String) throws -> Int { try told.ranges(of: text).count }

  @Test func theEndIsToldOnce() throws {
    let outcome = try push(["a", "b", "c"])
    #expect(outcome.code == 0, "\(outcome.err)")
    let text = try told
    #expect(text.ranges(of: #""event":"batch.done""#).count == 1, "\(text)")
    #expect(text.contains(#""files_done":3"#) && text.contains(#""id":"b1""#), "\(text)")
    let list = try transfers(["callbacks", "list", "--all", "--json"]).out
    #expect(list.ranges(of: #""about":"b1""#).count == 1 && list.contains(#""event":"batch.done""#), "\(list)")
    #expect(try transfers(["run"]).code == 0 && count("batch.") == 1)
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// A program inherits the environment, and may print it.
  @Test func whatItPrintsOfCredentialsIsHidden() throws {
    let script = "#!/bin/sh\necho \"bad $LOGIN_OF_ME, $AWS_SESSION_TOKEN, $MY_PASSWORD and $PLAIN_NAME\"\nexit 1\n"
    try writeFile(folder + "/tell", Array(script.utf8))
    try writeFile(folder + "/in/a", [1])
    let words: [String] = [
      "push", folder + "/in", receiver.url + "/up/", "--auth", "bearer=env:LOGIN_OF_ME", "--on-batch-done",
      "exec:\(folder)/tell", "--store", folder + "/l.db",
    ]
    let secrets: [String: String] = [
      "LOGIN_OF_ME": "canary-one", "AWS_SESSION_TOKEN": "canary-two", "MY_PASSWORD": "canary-three",
      "PLAIN_NAME": "canary-four",
    ]
    #expect(try program.run(words.map { Array($0.utf8) }, environment: secrets).code == 0)
    let said = try transfers(["store", "sql", "SELECT output FROM v_deliveries"]).out
    #expect(said.contains("bad [hidden], [hidden], [hidden] and canary-four"), "\(said)")
  }

  /// Its configuration names variables, or sets them. The ones that references name are also hidden where another
  /// command delivers, which reads no reference.
  @Test func whatItsConfigurationPassesIsHidden() throws {
    try writeFile(folder + "/in/a", [1])
    let program = "/usr/bin/env MADE_HERE=canary-1 WAY=fast /bin/sh -c"
    let script = "'echo \"said $LOGIN_OF_ME, ${PLAIN_NAME} and $MADE_HERE, $WAY\"; exit 1'"
    let words: [String] = [
      "push", folder + "/in", receiver.url + "/up/", "--auth", "bearer=env:LOGIN_OF_ME", "--on-batch-done",
      "exec:\(program) \(script)", "--on-batch-done", "exec:\(folder)/tell", "--store", folder + "/l.db",
    ]
    try writeFile(folder + "/tell", Array("#!/bin/sh\necho \"told $LOGIN_OF_ME\"\nexit 1\n".utf8))
    let values = ["LOGIN_OF_ME": "canary-one", "PLAIN_NAME": "canary-four"]
    #expect(try self.program.run(words.map { Array($0.utf8) }, environment: values).code == 0)
    #expect(try transfers(["callbacks", "retry", "1", "2"]).code == 0)
    let deliver: [String] = ["callbacks", "deliver", "--store", folder + "/l.db"]
    _ = try self.program.run(deliver.map { Array($0.utf8) }, environment: values)
    let said = try transfers(["store", "sql", "SELECT output FROM v_deliveries"]).out
    #expect(said.ranges(of: "said [hidden], [hidden] and [hidden], fast").count >= 2, "\(said)")
    #expect(said.ranges(of: "told [hidden]").count >= 2 && !said.contains("canary"), "\(said)")
  }

  /// The receiver was away while its batch ended; the job that runs later has nothing to send.
  @Test func anIdleJobTellsItToo() throws {
    mkdir(folder + "/other", 0o700)
    let jobs = "jobs: {nightly: {from: \(folder)/other, to: \"\(receiver.url)/job/\"}}"
    try writeFile(folder + "/config.yaml", Array(jobs.utf8))
    chmod(folder + "/config.yaml", 0o600)
    let job: [String] = ["job", "run", "nightly", "--no-syslog", "--config", folder + "/config.yaml"]
    try writeFile(folder + "/other/x", [1])
    #expect(try transfers(job).code == 0)
    let tell = try readText(folder + "/tell")
    try writeFile(folder + "/tell", Array("#!/bin/sh\nexit 1\n".utf8))
    #expect(try push(["a"]).code == 0)
    try writeFile(folder + "/tell", Array(tell.utf8))
    #expect(try count("batch.") == 0)
    #expect(try transfers(["callbacks", "retry", "1"]).code == 0)
    let outcome = try transfers(job)
    #expect(outcome.code == 0 && outcome.err == "", "\(outcome.err)")
    #expect(try count(#""event":"batch.done""#) == 1)
  }

  @Test func numbersOfNoCallbackAreErrors() throws {
    #expect(try push(["a"]).code == 0)
    for verb in ["retry", "cancel"] {
      let outcome = try transfers(["callbacks", verb, "1", "12345"])
      #expect(outcome.code == 64 && outcome.err.contains("no such callback: 12345"), "\(outcome)")
    }
    let states = try transfers(["callbacks", "list", "--all", "--format", "tsv", "--columns", "state"]).out
    #expect(states == "state\ndelivered\n")
  }

  @Test func aFailureIsToldAndTheRetryToo() throws {
    #expect(try push(["a", "bad"]).code == 3)
    #expect(try count(#""event":"batch.failed""#) == 1 && count("batch.") == 1)
    #expect(try transfers(["retry", "--state", "failed"]).code == 0)
    #expect(try transfers(["run"]).code == 0)
    #expect(try count(#""event":"batch.done""#) == 1 && count("batch.") == 2)
  }
}
