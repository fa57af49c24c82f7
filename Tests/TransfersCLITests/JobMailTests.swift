import Glibc
import TransferModel
import Testing

@testable import TransfersCLI

/// Mails of jobs, passed to a program that takes the place of sendmail.
@Suite struct JobMailTests {
  let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }
  private var source: String { folder + "/source" }
  private var config: String { folder + "/config.yaml" }
  private var store: String { folder + "/l.db" }
  private var mails: String { folder + "/mails" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT /in/bad* : status=403\n")
    mkdir(folder + "/source", 0o700)
    try writeFile(source + "/good", Array("g".utf8))
    try sendmail("printf '%s\\n' \"$@\" '--' >> '\(mails)'; cat >> '\(mails)'")
    try writeFile(mails, [])
  }

  private func sendmail(_ line: String) throws {
    try writeFile(folder + "/sendmail", Array("#!/bin/sh\n\(line)\n".utf8))
    chmod(folder + "/sendmail", 0o700)
  }

  private func run(_ keys: String) throws -> BuiltProgram.Outcome {
    let job =
      "jobs:\n  nightly:\n    from: \(source)\n    to: \(receiver.url)/in/\n    sendmail: \(folder)/sendmail\n\(keys)"
    try writeFile(config, Array(job.utf8))
    chmod(config, 0o600)
    return try program.run("job", "run", "nightly", "--no-syslog", "--config", config, "--store", store)
  }

  @Test func aRunThatFailsIsMailedOnceAndOneThatEndsWellIsNot() throws {
    let mail = "    mail: [ops@example.org, root]\n"
    #expect(try run(mail).code == 0)
    #expect(try readText(mails) == "")
    try writeFile(source + "/new", Array("n".utf8))
    try writeFile(source + "/bad\nBcc: x@y", Array("b".utf8))
    let failed = try run(mail)
    #expect(failed.code == 3, "\(failed.err)")
    let lines = try readText(mails).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(
      lines.prefix(7) == [
        "-i", "-t", "--", "To: ops@example.org,", " root", "Subject: transfers: job nightly: partial", lines[6],
      ])
    #expect(lines[6].hasPrefix("Message-ID: <") && lines.filter { $0.hasPrefix("To:") }.count == 1)
    #expect(!lines.contains { $0.hasPrefix("Bcc") })
    let body = lines.drop { !$0.isEmpty }
    #expect(body.contains("The job nightly ended with \"partial\"."))
    #expect(body.contains { $0.contains("job=nightly") && $0.contains("result=partial") && $0.contains("failed=1") })
    #expect(body.contains { $0.contains(#"\x0aBcc: x@y"#) && !$0.contains(#"\\x0a"#) }, "\(body)")
  }

  private func subjects() throws -> [String] {
    try readText(mails).split(separator: "\n").filter { $0.hasPrefix("Subject: ") }.map { String($0.dropFirst(9)) }
  }

  @Test func aFailureThatGoesOnIsMailedOnceAndItsEndToo() throws {
    let mail = "    mail: root\n"
    try writeFile(source + "/bad", Array("b".utf8))
    for _ in 1...3 { #expect(try run(mail).code == 3) }
    #expect(try subjects() == ["transfers: job nightly: partial"])
    // Each run is still recorded.
    #expect(
      try program.run("store", "sql", "SELECT failed_runs FROM job_state", "--format", "csv", "--store", store).out
        .contains("3"))
    unlink(source + "/bad")
    #expect(try program.run("clean", "--failed", "--store", store).code == 0)
    #expect(try run(mail).code == 0)
    #expect(try run(mail).code == 0)
    #expect(try subjects() == ["transfers: job nightly: partial", "transfers: job nightly: ok"])
    #expect(try readText(mails).contains("Failed runs since the last mail: 2."))
  }

  @Test func eachFailureIsMailedWhenThatIsAskedFor() throws {
    try writeFile(source + "/bad", Array("b".utf8))
    for _ in 1...2 { #expect(try run("    mail: root\n    mail_remind: 0s\n").code == 3) }
    #expect(try subjects().count == 2)
  }

  @Test func everyResultIsMailedWhenThatIsAskedFor() throws {
    #expect(try run("    mail: root\n    mail_on: result\n").code == 0)
    #expect(try readText(mails).contains("Subject: transfers: job nightly: ok\n"))
  }

  /// A waiting mail does not change the exit code. The status commands show it, and it is sent later.
  @Test func aMailThatCannotBeSentWaits() throws {
    try sendmail("exit 75")
    #expect(try run("    mail: root\n    mail_on: result\n").code == 0)
    func look(_ words: String...) throws -> String {
      try program.run((words + ["--config", config, "--store", store]).map { Array($0.utf8) }).out
    }
    #expect(try look("status").contains("1 waiting (transfers callbacks list)"))
    #expect(try look("job", "show", "nightly").contains("1 waiting (transfers callbacks list)"))
    #expect(try look("status", "--json").contains("\"callbacks_given_up\":0,\"callbacks_waiting\":1"))
    #expect(try look("job", "show", "nightly", "--json").contains("\"callbacks_given_up\":0,\"callbacks_waiting\":1"))
    #expect(try look("callbacks", "list").contains("\(folder)/sendmail root"))
    try sendmail("cat >> '\(mails)'")
    #expect(try program.run("callbacks", "cancel", "--all", "--store", store).code == 0)
    #expect(try program.run("callbacks", "retry", "1", "--store", store).code == 0)
    #expect(try program.run("callbacks", "deliver", "--store", store).code == 0)
    #expect(try readText(mails).contains("Subject: transfers: job nightly: ok\n"))
    #expect(try !look("status").contains("callbacks"))
  }

  @Test(arguments: [
    ("    mail: \"a b@h\"\n", "config.yaml:6:11: mail takes addresses"),
    ("    mail: [root, \"x\\nBcc: y\"]\n", "config.yaml:6:11: mail takes addresses"),
    ("    mail: root\n    mail_on: never\n", "config.yaml:7:14: \"mail_on\" takes failure, result"),
    ("    mail: root\n    mail_remind: often\n", "config.yaml:7:18: mail_remind takes a time"),
    ("    mail: root\n    on_result_remind: 1h\n", "config.yaml:7:23: on_result_remind needs receivers"),
    ("", "config.yaml:5:15: sendmail needs \"mail\""),
  ])
  func whatIsWrongIsSaidWithItsPlace(_ keys: String, _ message: String) throws {
    _ = try run(keys)
    let checked = try program.run("config", "check", config)
    #expect(checked.code == 78 && (checked.out + checked.err).contains(message), "\(checked.out)\(checked.err)")
  }
}
