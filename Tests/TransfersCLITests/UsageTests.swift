import Testing

@testable import TransfersCLI

/// Errors that need neither ledger nor network: arguments in, one line and one code out.
@Suite struct UsageTests {
  let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  @Test(arguments: [
    (["nope"], #"no command \"nope\""#), (["status", "--bogus"], "Unknown option '--bogus'"),
    (["push", "a"], "give at least one source and a destination"),
    (["push", "--workers", "0", "a", "s3://b/"], "1 to 256"),
    (["run", "--workers", "257"], "1 to 256"), (["run", "--rate", "0"], #"--rate "0""#),
    (["run", "--rate", "20Mbit"], #"--rate "20Mbit" is not a rate"#),
    (["push", "--label", "x", "a", "s3://b/"], #"\"x\" is not key=value"#),
    (["push", "--label", "=x", "a", "s3://b/"], "is not key=value"),
    (["push", "--auth", "bearer=hunter2", "a", "s3://b/"], "takes a reference, never a secret"),
    (["list", "nothing"], #""nothing" is not one of files, batches"#), (["list", "--limit", "0"], "at least 1"),
    (["report", "summary", "--limit", "3"], "--limit"),
    (["show", "12"], #""12" is not an ID"#), (["show", "b1-b3"], "is not one row"),
    (["store", "nope"], #"no command \"nope\""#),
    (["help", "nope"], #"no command or topic "nope""#),
    (["status", "--color", "blue"], #"--color "blue" is not one of auto"#),
    (["--store"], "--store"),
  ])
  func wrongUseExits64WithOneLine(_ arguments: [String], _ part: String) throws {
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 64)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.hasPrefix("transfers: error[usage]: "))
    let expected = part.replacing(#"\""#, with: "\"")
    #expect(outcome.err.contains(expected), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == 1)
  }

  @Test func aSecretInTheWrongPlaceIsNotPrinted() throws {
    let outcome = try program.run("push", "--auth", "bearer=hunter2", "a", "http://h/")
    #expect(!outcome.err.contains("hunter2"))
  }

  @Test(arguments: [
    ["--help"], ["-h"], ["help"], ["--version"], ["help", "exit-codes"], ["help", "destinations"],
    ["help", "selectors"], ["help", "time"], ["help", "sources"], ["help", "push"],
    ["push", "--help"], ["store", "--help"], ["store", "check", "-h"], ["help", "store", "schema"], [], ["store"],
  ])
  func helpExits0OnStandardOutput(_ arguments: [String]) throws {
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 0)
    #expect(outcome.err.isEmpty)
    #expect(!outcome.out.isEmpty)
  }

  @Test func helpOfACommandIsItsOwn() throws {
    #expect(try program.run("push", "--help").out.contains("USAGE: transfers push"))
    #expect(try program.run("help", "store", "check").out.contains("transfers store check"))
  }

  @Test func theTableOfExitCodesIsWhole() throws {
    let text = try program.run("help", "exit-codes").out
    for code in ExitCode.allCases { #expect(text.contains(" \(code.rawValue)  \(code.name) "), "\(code)") }
  }

  @Test func withJSONTheExitIsARecordOnStandardError() throws {
    let outcome = try program.run("show", "x", "--json")
    #expect(outcome.code == 64)
    #expect(outcome.out.isEmpty)
    let last = outcome.err.split(separator: "\n").last
    #expect(
      last
        == #"{"code":64,"error":"usage","message":"\"x\" is not an ID","name":"usage","remedy":"b12 (batch), f345 (file), c9 (chunk), a77 (attempt), s4 (session, for gc) or b12-b15","retryable":false,"type":"exit"}"#
    )
  }

  @Test func aHostileArgumentCannotForgeALine() throws {
    let outcome = try program.run([Array("show".utf8), Array("f1\ntransfers: ok\u{1B}[2J".utf8) + [0xFF]])
    #expect(outcome.code == 64)
    #expect(outcome.err.split(separator: "\n").count == 1)
    #expect(!outcome.err.contains("\u{1B}"))
  }

  @Test func whereTheLedgerIs() throws {
    let home = program.folder.path
    #expect(try program.run("store", "path").out == "\(home)/.local/state/transfers/transfers.db\n")
    #expect(
      try program.run("store", "path", environment: ["XDG_STATE_HOME": "/s"]).out == "/s/transfers/transfers.db\n")
    #expect(try program.run("store", "path", environment: ["TRANSFERS_STORE": "/a b"]).out == "/a b\n")
    #expect(try program.run("store", "path", "--store", "x.db", environment: ["TRANSFERS_STORE": "/a"]).out == "x.db\n")
  }

  @Test(arguments: [("TRANSFERS_RATE", "fast"), ("TRANSFERS_WORKERS", "0")])
  func aBadEnvironmentIsWrongUse(_ name: String, _ value: String) throws {
    let outcome = try program.run("run", environment: [name: value])
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("\(name) is \"\(value)\""))
  }

  @Test func aFullDiskUnderTheOutputIsAnError() throws {
    let outcome = try program.run("help", out: "/dev/full")
    #expect(outcome.code == 1)
    #expect(
      outcome.err
        == "transfers: error[output]: write standard output: no space left on device. "
        + "Try: free space at the target, or write elsewhere with -o FILE\n")
  }

  @Test func aReaderThatWentAwayIsNoError() throws {
    let outcome = try program.runIntoClosedPipe("help")
    #expect(outcome.code == 0)
    #expect(outcome.signal == 0)
    #expect(outcome.err.isEmpty)
  }
}
