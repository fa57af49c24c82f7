import Glibc
import Testing

@testable import TransfersCLI

/// A job that stops at its own limits is quiet, and a success for monitoring and callbacks; its exit code stays.
@Suite struct JobLimitTests {
  private let scene: JobScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    scene = try JobScene()
    try scene.fillOut(count: 3)
  }

  private func run(_ limit: String, _ words: String...) throws -> BuiltProgram.Outcome {
    let text = """
      jobs:
        nightly: {from: \(folder)/out, to: "\(receiver.url)/in/", syslog: false, prom_file: \(folder)/n.prom, \(limit)}

      """
    try scene.configure(text)
    return try scene.run(words)
  }

  @Test(arguments: ["quota: 1000/month", "max_bytes: 1000"])
  func aRunThatKeepsItsLimitIsQuiet(_ limit: String) throws {
    let first = try run(limit, "job", "run", "nightly")
    #expect((first.code, first.out, first.err) == (5, "", ""), "\(first.err)")
    #expect(try readText("\(receiver.root)/in/f0").utf8.count == 1_000)
    #expect(try readText("\(folder)/n.prom").contains("transfers_job_last_success_timestamp_seconds{"))
    #expect(try run(limit, "check", "--job", "nightly", "--max-age", "1h").code == 0)
    let told = try run(limit, "job", "run", "nightly", "-v")
    #expect(told.code == 5)
    #expect(told.out.contains("result=work_left"))
  }

  /// With a limit that lets nothing pass, the files would wait for ever, and nobody would know.
  @Test func aLimitThatLetsNothingPassIsTold() throws {
    let outcome = try run("max_bytes: 10", "job", "run", "nightly")
    #expect(outcome.code == 5)
    #expect(outcome.err.contains("the limit of this run was reached with 3 files left"), "\(outcome.err)")
    #expect(try run("max_bytes: 10", "check", "--job", "nightly", "--max-age", "1h").code == 2)
  }

  /// Others are sent; this file would wait for ever.
  @Test func aFileThatNeverFitsIsTold() throws {
    try writeFile("\(folder)/out/long", [UInt8](repeating: 7, count: 5_000))
    let outcome = try run("max_bytes: 4000", "job", "run", "nightly")
    #expect(outcome.code == 5)
    #expect(
      outcome.err.contains("the limit of this run was reached with 1 file left (1 longer than --max-bytes)"),
      "\(outcome.err)")
    #expect(outcome.err.contains("Try: raise --max-bytes (of a job: max_bytes), or transfers run"), "\(outcome.err)")
    #expect(try readText("\(receiver.root)/in/f2").utf8.count == 1_000)
    #expect(try run("max_bytes: 4000", "check", "--job", "nightly", "--max-age", "1h").code == 2)
    let json = try run("max_bytes: 4000", "job", "run", "nightly", "--json").out
    #expect(json.contains("\"left\":1") && json.contains("\"too_long\":1"), "\(json)")
    #expect(try run("max_bytes: 6000", "job", "run", "nightly").code == 0)
  }

  /// With two destinations of which one is away, something is sent in each run; nobody would ever hear of the other.
  @Test func aDestinationThatGetsNothingIsTold() throws {
    let limit = "max_duration: 1s, to: [\"\(receiver.url)/in/\", \"http://127.0.0.1:9/away/\"]"
    try scene.configure("jobs: {nightly: {from: \(folder)/out, syslog: false, \(limit)}}\n")
    let outcome = try scene.run(["job", "run", "nightly"])
    #expect(outcome.code == 5)
    #expect(outcome.err.contains("; nothing was sent to http://127.0.0.1:9/away/"), "\(outcome.err)")
    let checked = try scene.run(["check", "--job", "nightly", "--max-age", "1h"])
    #expect(checked.code == 2 && checked.out.contains("never succeeded"), "\(checked.out)")
  }

  /// Two folders of one server are two destinations. One that the limit left no room for is not in trouble.
  @Test(arguments: [false, true]) func aFolderThatRefusesIsTold(_ refuses: Bool) throws {
    let receiver = try RunningReceiver(
      in: try TemporaryFolder(), script: refuses ? "match PUT /two/* times=99 : status=503\n" : "")
    let limit = refuses ? "max_duration: 1s" : "max_bytes: 3000"
    let to = "to: [\"\(receiver.url)/one/\", \"\(receiver.url)/two/\"]"
    try scene.configure("jobs: {nightly: {from: \(folder)/out, syslog: false, \(limit), \(to)}}\n")
    let outcome = try scene.run(["job", "run", "nightly"])
    #expect(outcome.code == 5)
    #expect(outcome.err.contains("; nothing was sent to \(receiver.url)/two/") == refuses, "\(outcome.err)")
    #expect(outcome.err.isEmpty != refuses)
    if !refuses { #expect(try scene.run(["job", "run", "nightly"]).code == 0) }
  }

  /// The engine ends because of the files of the other job, which wait after a failure.
  @Test func aQuotaIsQuietBesideAnotherJobInTrouble() throws {
    let text = """
      jobs:
        away: {from: \(folder)/out, to: "http://127.0.0.1:9/away/", syslog: false, max_duration: 1s}
        nightly: {from: \(folder)/out, to: "\(receiver.url)/in/", syslog: false, quota: 1000/month}

      """
    try scene.configure(text)
    let away = try scene.run(["job", "run", "away"])
    #expect(away.code == 5 && away.err.contains("nothing was sent to http://127.0.0.1:9/away/"), "\(away.err)")
    for _ in 0..<2 {
      let outcome = try scene.run(["job", "run", "nightly"])
      #expect((outcome.code, outcome.err) == (5, ""))
    }
    #expect(scene.stored("f0") != nil && scene.stored("f1") == nil)
    #expect(try scene.run(["check", "--job", "nightly", "--max-age", "1h"]).code == 0)
  }

  /// It does not end a series of successes for a dead man's switch or a mail.
  @Test func callbacksCountItAsSuccess() throws {
    try writeFile("\(folder)/tell.sh", Array("#!/bin/sh\ncat >> '\(folder)/told'\n".utf8))
    chmod("\(folder)/tell.sh", 0o700)
    let limit = "quota: 1000/month, on_result: \"exec:\(folder)/tell.sh\""
    #expect(try run(limit, "job", "run", "nightly").code == 5)
    #expect(try readText("\(folder)/told").contains(#""event":"job.succeeded""#))
    let failedRuns = try run(limit, "store", "sql", "--format", "tsv", "SELECT failed_runs FROM job_state").out
    #expect(failedRuns == "failed_runs\n0\n")
  }
}
