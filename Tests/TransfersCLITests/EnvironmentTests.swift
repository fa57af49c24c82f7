import Glibc
import Testing

/// The variables `TRANSFERS_*`, through the built program.
@Suite struct EnvironmentTests {
  let program: BuiltProgram
  private var store: String { program.folder.path + "/l.db" }

  init() throws { program = try BuiltProgram() }

  @Test func aVariableDoesWhatItsFlagDoes() throws {
    let typed = try program.run("store", "path", "--format", "csv", "--store", store)
    let set = try program.run(
      "store", "path", environment: ["TRANSFERS_FORMAT": "csv", "TRANSFERS_STORE": store])
    #expect(set.out == typed.out)
    #expect(set.out == "key,value\r\npath,\(store)\r\n")
  }

  @Test func rulesComeFromTheEnvironmentUnlessTheyAreTyped() throws {
    let tree = program.folder.path + "/tree"
    for name in ["a.tmp", "b.bak", "c.txt"] { try writeFile(try folder(tree) + "/" + name, [0x61]) }
    let variables = ["TRANSFERS_EXCLUDE": "*.tmp\n*.bak"]
    func planned(_ more: [String]) throws -> [String] {
      let arguments = [
        "push", "-n", tree, "http://h/", "--store", store, "--format", "tsv", "--columns", "key,verdict",
      ]
      let out = try program.run((arguments + more).map { Array($0.utf8) }, environment: variables).out
      let lines = out.split(separator: "\n").dropFirst()
      return lines.filter { $0.hasSuffix("\tnew") }.map { String($0.prefix { $0 != "\t" }.suffix(5)) }.sorted()
    }
    #expect(try planned([]) == ["c.txt"])
    #expect(try planned(["--include", "*.tmp"]) == ["a.tmp"])
    #expect(try planned(["--exclude", "*.txt"]) == ["a.tmp", "b.bak"])
  }

  private func folder(_ path: String) throws -> String {
    mkdir(path, 0o700)
    return path
  }

  @Test(arguments: [
    ("run", ["TRANSFERS_RATE": "fast"], #"TRANSFERS_RATE is "fast": "#),
    ("run", ["TRANSFERS_WORKERS": "0"], #"TRANSFERS_WORKERS is "0": --workers must be 1 to 256"#),
    ("status", ["TRANSFERS_FORMAT": "xml"], #"TRANSFERS_FORMAT is "xml": "#),
    ("status", ["TRANSFERS_QUIET": "maybe"], #"TRANSFERS_QUIET is "maybe". Try: 1 or 0"#),
    ("status", ["TRANSFERS_QUIET": "1", "TRANSFERS_VERBOSE": "1"], "--quiet and --verbose contradict"),
    ("status --limit 3", ["TRANSFERS_QUIET": "1"], "error[usage]: Unknown option '--limit'"),
  ])
  func aBadVariableIsNamed(_ command: String, _ variables: [String: String], _ part: String) throws {
    let outcome = try program.run(command.split(separator: " ").map { Array($0.utf8) }, environment: variables)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == 1)
  }

  @Test func aSecretInTheWrongPlaceIsNotPrinted() throws {
    let outcome = try program.run("push", "a", "http://h/", environment: ["TRANSFERS_AUTH": "bearer=hunter2"])
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("TRANSFERS_AUTH is \"(hidden)\""), "\(outcome.err)")
    for (variable, value) in [
      ("WEBHOOK_KEY", "hunter2"), ("ON_FAILED", "https://hooks.example/services/hunter2"),
      ("ON_DONE", "webhook:https:/hooks.example/hunter2"),
    ] {
      let outcome = try program.run("push", "-v", "a", "http://h/", environment: ["TRANSFERS_\(variable)": value])
      #expect(outcome.code == 64 && outcome.err.contains("TRANSFERS_\(variable) is "), "\(outcome.err)")
      #expect(!outcome.err.contains("hunter2"), "\(outcome.err)")
    }
    let spoken = try program.run("store", "path", "-v", environment: ["TRANSFERS_AUTH": "bearer=hunter2"])
    #expect(!spoken.err.contains("hunter2"), "\(spoken.err)")
    let talkative = try program.run(
      "push", "-v", "a", "http://h/", environment: ["TRANSFERS_ENDPOINT_URL": "http://u:hunter2@h/?k=hunter2"])
    #expect(!(outcome.err + talkative.err).contains("hunter2"))
  }

  @Test func whatIsSetIsSaidWhenAsked() throws {
    let outcome = try program.run(
      "store", "path", "-v", environment: ["TRANSFERS_STORE": "/a\u{1B}b.db", "TRANSFERS_COLOR": "never"])
    #expect(
      outcome.err == """
        transfers: the ledger is "/a\\x1bb.db", by TRANSFERS_STORE
        transfers: TRANSFERS_COLOR gives --color=never

        """)
    #expect(try program.run("store", "path", environment: ["TRANSFERS_COLOR": "never"]).err.isEmpty)
  }

  @Test func aSlipOfThePenIsAWarning() throws {
    let outcome = try program.run("store", "path", environment: ["TRANSFERS_RAET": "5M"])
    #expect(outcome.code == 0)
    #expect(outcome.err.hasPrefix("transfers: TRANSFERS_RAET sets nothing; did you mean TRANSFERS_RATE?"))
    #expect(try program.run("store", "path", "-q", environment: ["TRANSFERS_RAET": "5M"]).err.isEmpty)
  }

  /// The row of a run records only the arguments that were typed.
  @Test func theLedgerRecordsOnlyWhatWasTyped() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let source = program.folder.path + "/f"
    try writeFile(source, [0x61])
    let outcome = try program.run(
      "push", source, receiver.url + "/x/", "--store", store, environment: ["TRANSFERS_REGION": "never-recorded"])
    #expect(outcome.code == 0, "\(outcome.err)")
    let bytes = try readText(store) + ((try? readText(store + "-wal")) ?? "")
    #expect(bytes.contains("\"push\""))
    #expect(!bytes.contains("--region"))
  }

  /// As in AWS's own tools, naming a profile selects that account and no other.
  @Test(arguments: [["--profile", "prod"], []]) func aNamedProfileWithoutKeysTakesNoOtherAccount(_ words: [String])
    throws
  {
    let program = try BuiltProgram()
    let receiver = try RunningReceiver(in: program.folder)
    let folder = program.folder.path
    try writeFile(folder + "/config", Array("[profile prod]\nregion = eu-west-1\n".utf8))
    try writeFile(folder + "/a", Array("x".utf8))
    let push = ["push", folder + "/a", "s3://bucket/", "--endpoint-url", receiver.url, "--store", folder + "/l.db"]
    let environment = [
      "AWS_ACCESS_KEY_ID": "AKIAOTHER", "AWS_SECRET_ACCESS_KEY": "other", "AWS_CONFIG_FILE": folder + "/config",
      // If the profile is named only by this variable, the keys in the environment take precedence.
      "AWS_PROFILE": "prod",
    ]
    let outcome = try program.run((push + words).map { Array($0.utf8) }, environment: environment)
    let attempts = try program.run("list", "attempts", "--all", "--ids", "--store", folder + "/l.db").out
    if words.isEmpty {
      #expect(outcome.code != 77 && !attempts.isEmpty, "\(outcome.err)")
    } else {
      #expect(outcome.code == 77 && outcome.err.contains("the profile \"prod\""), "\(outcome.err)")
      #expect(!outcome.err.contains("AWS_ACCESS_KEY_ID"), "\(outcome.err)")
    }
    let plan = try program.run((push + words + ["-n"]).map { Array($0.utf8) }, environment: environment)
    #expect(plan.out.contains("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY from the environment") == words.isEmpty)
  }
}
