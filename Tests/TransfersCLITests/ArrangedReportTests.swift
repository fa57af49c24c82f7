import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// `--sort`, `--by`, `--facet` and `--fail-on`: parsing, and the behaviour of the built program.
@Suite struct ArrangedReportTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try ReadingTests.shared.get().store
  }

  private func run(_ command: String) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)])
  }

  @Test(arguments: [
    ("report files --sort bytes:desc", "f5 f1 f2 f3 f4"), ("report files --sort bytes", "f3 f2 f1 f5 f4"),
    ("report files --sort bytes:desc --limit 2", "f5 f1"), ("report files --sort path --state failed", "f2 f4"),
    ("report attempts f1 --sort total_ms:desc --limit 1", "a"),
  ])
  func rowsComeInTheOrderThatWasAskedFor(_ command: String, _ ids: String) throws {
    let found = try run("\(command) --format tsv --columns id")
    #expect(found.code == 0, "\(found.err)")
    let rows = found.out.split(separator: "\n").dropFirst().joined(separator: " ")
    #expect(ids == "a" ? rows.hasPrefix("a") && !rows.contains(" ") : rows == ids, "\(rows)")
  }

  /// Each value of a facet selects as many files as it shows, and the values together cover all files.
  @Test func eachValueOfAFacetSelectsWhatItCounts() throws {
    for (report, column) in [("files", 2), ("attempts", 3)] {
      let lines = try run("report \(report) --facet host,state,error,batch,direction --format tsv").out
        .split(separator: "\n").dropFirst().map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
      #expect(lines.count > 8)
      for facet in Dictionary(grouping: lines, by: { $0[0] }).values {
        let all = try run("list \(report) --ids --hidden").out.split(separator: "\n").count
        #expect(facet.reduce(0) { $0 + (Int($1[column]) ?? 0) } == all)
      }
      for line in lines where !line[4].isEmpty {
        let found = try run("list \(report) --ids --hidden \(line[4])")
        #expect(found.out.split(separator: "\n").count == Int(line[column]), "\(line)")
      }
    }
  }

  /// Only the attempts that are selected by number are checked and counted, not the other attempts of their files.
  @Test func attemptsThatAreNamedAreCountedAlone() throws {
    let errors = try run("report attempts a1-a3 --facet error --format tsv --columns attempts").out
    #expect(errors.split(separator: "\n").dropFirst().compactMap { Int($0) }.reduce(0, +) == 3)
    #expect(try run("report attempts a1-a3 --fail-on attempts>2").code == 3)
    #expect(try run("report attempts a1-a3 --fail-on attempts>3").code == 0)
  }

  /// The sums of what was pruned have codes, but no hosts, hours and folders.
  @Test func reportsSayWhatTheyLackOfWhatWasPruned() throws {
    let pruned = try FilledLedger(in: program.folder).path
    func run(_ command: String) throws -> BuiltProgram.Outcome {
      try program.run(
        (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(pruned.utf8)])
    }
    #expect(try run("store prune --older-than 1d").code == 0)
    for (words, isTold) in [("", false), (" --by code,host", true), (" --facet error", true)] {
      let report = try run("report failures\(words)")
      #expect(report.code == 0 && report.out.contains("not in these figures: ") == isTold, "\(report)")
    }
    let remark = "ranges and resumption: only of requests that \"store prune\" has not deleted"
    #expect(try run("report hosts").out.contains(remark))
    #expect(try !self.run("report hosts").out.contains(remark))
  }

  @Test func columnsOfSQLHaveDifferentNames() throws {
    let sql = "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a"
    let rows = try program.run(["store", "sql", "--json", sql, "--store", store].map { Array($0.utf8) }).out
    #expect(rows.contains(#"{"a":1,"a_2":2,"a_2_2":3,"a_3":4}"#), "\(rows)")
  }

  /// Grouping by code alone gives the same rows as no grouping, and finer groups add up to them.
  @Test func groupsOfFailuresAddUp() throws {
    func rows(_ words: String, _ columns: String) throws -> [[Substring]] {
      try run("report failures \(words) --format tsv --columns \(columns)").out.split(separator: "\n").dropFirst()
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    }
    let columns = "error_code,files,attempts,first_at,last_at"
    let whole = try rows("", columns)
    #expect(
      try rows("--by code", columns).map { $0.joined(separator: " ") }.sorted()
        == whole.map { $0.joined(separator: " ") }.sorted())
    for words in ["host", "hour", "path-prefix", "code,host,hour,path-prefix"] {
      let groups = try rows("--by \(words)", "files,attempts")
      for column in 0...1 {
        #expect(groups.reduce(0) { $0 + (Int($1[column]) ?? 0) } == whole.reduce(0) { $0 + (Int($1[column + 1]) ?? 0) })
      }
    }
  }

  @Test(arguments: [
    ("report summary --fail-on failures", Int32(3), "failed: --fail-on failures, and failed or unknown is 3"),
    (
      "report files --fail-on failed>0 --fail-on mismatch", 3,
      "passed: --fail-on mismatch, and mismatched or contradicted is 0"
    ),
    ("report hosts --fail-on failed>2", 0, "passed: --fail-on failed>2, and failed is 2"),
    ("report failures --fail-on error_rate>=1%", 3, "failed: --fail-on error_rate>=1%"),
    ("report failures --fail-on wall_ms<1s --batch b2", 0, "wall_ms is -"),
    ("report latency --sla attempt<1ms --fail-on sla", 3, "failed: --fail-on sla, and missed is 2"),
    ("report latency --sla attempt<1ms --fail-on missed>2", 0, "passed: --fail-on missed>2, and missed is 2"),
    ("report latency --sla attempt<1h --fail-on sla", 0, "passed: --fail-on sla, and missed is 0"),
    ("report latency --sla attempt<1h --fail-on sla --batch b2", 3, "no value: --fail-on sla, and missed is -"),
    (
      "report latency --sla attempt<1h --fail-on missed>2 --batch b2", 3,
      "no value: --fail-on missed>2, and missed is -"
    ),
    ("report receipts --fail-on failures", 3, "failed or unknown is 3"),
    ("report compare b1 b2 --fail-on failures", 0, "failed or unknown is 0"),
    ("report compare b2 nightly --fail-on failures", 3, "failed or unknown is 3"),
  ])
  func aConditionIsToldAndIsTheExitCode(_ command: String, _ code: Int32, _ line: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == code, "\(outcome.err)")
    #expect(["passed: ", "failed: ", "no value: "].contains { outcome.out.hasPrefix($0) })
    #expect(outcome.out.contains(line), "\(outcome.out)")
    #expect(outcome.err.contains("error[check_failed]: --fail-on") == (code != 0))
    let document = try run(command + " --json")
    #expect(document.code == code)
    #expect(document.out.contains("\"passed\":\(code == 0)"))
  }

  @Test func aMismatchHasItsOwnCode() throws {
    var summary = SummaryFigures(
      batches: 1, totals: FileTotals(byState: [.failed: 1], mismatched: 1), attempts: AttemptTotals(), failures: [],
      slowest: [])
    let conditions = ["failures", "mismatch"].compactMap(FailCondition.init)
    func code() -> ExitCode? {
      do {
        try conditions.requireSuccess(conditions.map { $0.check(summary) })
        return nil
      } catch { return error.status }
    }
    #expect(code() == .mismatch)
    summary = SummaryFigures(
      batches: 1, totals: FileTotals(byState: [.failed: 1]), attempts: AttemptTotals(), failures: [], slowest: [])
    #expect(code() == .partial)
    summary = SummaryFigures(
      batches: 1, totals: FileTotals(byState: [.done: 1]), attempts: AttemptTotals(), failures: [], slowest: [])
    #expect(code() == nil)
  }

  @Test(arguments: [
    ("report files --sort size", "one of id,uid"),
    ("report hosts --sort http_versions", "is not a column to sort by"),
    ("report files --sort bytes:down", "is not"), ("report summary --sort bytes", "--sort is not for summary"),
    ("report files --by code", "--by code is not for files"), ("report failures --by started", "is not for failures"),
    ("report failures --by code,code", "is not"), ("report failures --by colour", "is not"),
    ("report hosts --facet host", "--facet is for"), ("report files --facet colour", "is not"),
    ("report failures --facet host --by code", "give one of them"),
    ("report files --fail-on failed", "is not"), ("report files --fail-on failed>-1", "is not"),
    ("report files --fail-on nothing>1", "is not"), ("report files --fail-on error_rate>nan", "is not"),
    ("report files --fail-on error_rate>5", "is not"), ("report files --fail-on error_rate>=1", "is not"),
    ("report hosts --json --columns nothing", "unknown column \"nothing\""),
    ("report trace", "report trace writes a file"), ("report trace -o -", "report trace writes a file"),
    ("report trace --sort id", "--sort is not for"),
    ("report trace --fail-on mismatch", "--fail-on is not for trace and otlp"),
    ("report trace --format csv -o t.json", "has its own format"),
    ("report chunks f1 --state done", "state does not apply"),
    ("report otlp", "needs --endpoint"), ("report otlp --endpoint ftp://h", "not an http or https URL"),
    ("report otlp --endpoint http://u:p@h", "with credentials or a query"),
    ("report otlp --endpoint http://h/v1/traces?key=x", "with credentials or a query"),
    ("report otlp --endpoint http://h --header A=b", "not a reference"),
    ("report files --endpoint http://h", "are for otlp"),
    ("report otlp --endpoint http://h --fail-on mismatch", "--fail-on is not for"),
    ("report latency --fail-on sla", "needs the objectives of --sla"),
    ("report summary --fail-on sla", "needs the objectives of --sla"),
    ("report receipts --sort path", "--sort is not for"), ("report events --sort at", "--sort is not for"),
    ("report compare b1", "needs two batches"), ("report compare b1 b2 b2", "needs two batches"),
    ("report compare b1 soon", #""soon" is neither a batch of this ledger nor a time window"#),
    ("report compare b1 ..", "nor a time window"), ("report compare b1 b99", "neither a batch of this ledger"),
    ("report compare today.. ..yesterday --last", "--last does not apply"),
    ("report compare b1 2026-11-08..2026-11-01", "it ends before it begins"),
    ("report compare b1 soon..", "is not a time"), ("report compare b1 b2 --sort a", "--sort is not for"),
  ])
  func whatCannotBeMeantIsWrongUse(_ command: String, _ part: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.out.isEmpty)
  }

  @Test func columnsOfTheOneTableNeedNoPath() throws {
    let short = try run("report failures --json --columns error_code,files").out
    let long = try run("report failures --json --columns failures.error_code,failures.files").out
    #expect(short.split(separator: "\"generated_at\"")[0] == long.split(separator: "\"generated_at\"")[0])
    #expect(short.hasPrefix(#"{"data":{"failures":[{"error_code":"#))
  }
}
