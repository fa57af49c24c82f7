import Glibc
import Testing
@testable import TransferLedger
import TransferModel
import TransferReports
import Transfers

@testable import TransfersCLI

/// The summary at the end of `push` and `run`.
@Suite struct RunOutputTests {
  private func totals(_ byState: [FileState: Int], mismatched: Int = 0) -> FileTotals {
    FileTotals(
      byState: byState, bytes: 4 << 30, bytesAcked: 3_435_973_836, bytesTransferred: 3_448_556_748, retries: 7,
      mismatched: mismatched)
  }

  private func failure(_ files: Int64, _ path: String) -> FailureRow {
    FailureRow(
      code: "http.413", category: "server", hint: "", files: files, attempts: 9, firstMs: nil, lastMs: nil,
      examplePath: NameBytes(path), exampleMessage: "payload\u{1B} too large")
  }

  private func output(_ numbers: RunNumbers, _ status: ExitCode, _ problems: [FailureRow] = []) -> RunOutput {
    let batch = BatchID(rawValue: 412)
    let files = AddedFiles(since: .beginning, batch: batch, files: SelectedFiles())
    let add = AddResult(batch: batch, files: files)
    return RunOutput(numbers, add: add, addOutput: nil, status: status, problems: problems)
  }

  /// How much a killed engine sent is not known; the summary gives bounds then.
  @Test(arguments: [
    (0, "12.0 MiB transferred and not acked"),
    (8 << 20, "at least 12.0 MiB, at most 20.0 MiB transferred and not acked"),
  ])
  func whatWasCutOffHasBounds(inconclusive: Int64, text: String) throws {
    var totals = totals([.done: 116])
    totals.bytesUntold = inconclusive
    let output = output(RunNumbers(totals, wallMs: 94_012), .ok)
    #expect(output.text(.plain).hasSuffix(" · \(text)\n"))
    let figures = Dictionary(uniqueKeysWithValues: FigureTree(output.report).leaves().map { ($0.key, $0.cell) })
    #expect(figures["bytes_unacked"] == .bytes(12 << 20))
    #expect(figures["bytes_unacked_at_most"] == .bytes(12 << 20 + inconclusive))
  }

  @Test func whatFailedIsNamedWithTheNextCommand() {
    let numbers = RunNumbers(totals([.done: 116, .failed: 2]), wallMs: 94_012)
    let text = output(numbers, .partial, [failure(2, "/x/huge\n.bam"), failure(0, "/only/met")]).text(.plain)
    #expect(
      text == #"""
        b412 partial: 116 done, 2 failed · 3.1 GiB in 1m 34s · 34.8 MiB/s · 7 retries · 12.0 MiB transferred and not acked
        Files  Error     Message                Example
            2  http.413  payload\x1b too large  /x/huge\x0a.bam
        Next: transfers report failures --batch b412     transfers retry --state failed --batch b412

        """#)
  }

  @Test func workThatIsLeftIsForTheNextRun() {
    let text = output(RunNumbers(totals([.done: 1, .pending: 3, .active: 1]), wallMs: 1000), .workLeft).text(.plain)
    #expect(text.hasPrefix("b412 work left: 1 done, 4 left · "))
    #expect(text.hasSuffix("\nNext: transfers run\n"))
  }

  @Test func aMismatchIsNotAlsoAFailure() {
    let numbers = RunNumbers(totals([.done: 5, .failed: 3, .unknown: 1], mismatched: 1), wallMs: 1000)
    #expect((numbers.done, numbers.failed, numbers.mismatched, numbers.unknown) == (5, 2, 1, 1))
    #expect(output(numbers, .mismatch).text(.plain).contains("5 done, 2 failed, 1 unknown, 1 mismatched · "))
  }

  @Test func aRunAlsoSpeaksForWhatAnEarlierOneLeft() {
    var run = RunResult()
    (run.done, run.failed) = (4, 1)
    let numbers = RunNumbers(run, standing: totals([.done: 9, .failed: 2, .unknown: 1, .cancelled: 1]))
    #expect((numbers.done, numbers.doneBefore, numbers.failed, numbers.unknown) == (4, 5, 2, 1))
    #expect(numbers.badBefore == 2)
    #expect(ExitCode(numbers) == .partial)
    let value = RunOutput(numbers, add: nil, addOutput: nil, status: .partial, problems: [])
    #expect(
      value.text(.plain).hasPrefix(
        "partial: 4 done, 2 failed, 1 unknown (2 of them before this run), 1 cancelled · "), "\(value.text(.plain))")
    #expect(ExitCode(RunNumbers(run, standing: totals([.done: 9]))) == .ok, "the failed files were cleaned meanwhile")
  }

  @Test func nothingToDoIsOneLine() {
    #expect(output(.none, .ok).text(.plain) == "b412 ok: 0 done · 0 B in 0 ms\n")
  }

  private struct Clocks: TransferClock {
    var wallMs: Int64
    var bootMs: Int64
  }

  /// A killed engine whose parent has not taken note of its end yet.
  @Test func anEngineThatEndedIsNotAlive() throws {
    var pid: pid_t = 0
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup("exit 0"), nil]
    defer { for pointer in arguments { free(pointer) } }
    guard posix_spawn(&pid, "/bin/sh", nil, nil, arguments, environ) == 0 else { throw SystemFailure("spawn sh") }
    defer { waitpid(pid, nil, 0) }
    var info = siginfo_t()
    guard waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0 else { throw SystemFailure("wait for sh") }
    let run = RunRow(
      id: RunID(rawValue: 1), host: HostFacts.name, pid: Int64(pid), version: "", startedMs: 0, heartbeatMs: 1_000,
      endedMs: nil, how: nil, bootID: "another", heartbeatBootMs: nil)
    #expect(kill(pid, 0) == 0 && !EngineState(run, Clocks(wallMs: 1_000, bootMs: 1), bootID: "this").isAlive)
    var own = run
    own.pid = Int64(getpid())
    #expect(EngineState(own, Clocks(wallMs: 1_000, bootMs: 1), bootID: "this").isAlive)
  }

  /// The wall clock was changed while the engine ran.
  @Test func aRunIsAliveByTheBootClock() {
    var run = RunRow(
      id: RunID(rawValue: 1), host: "elsewhere", pid: 1, version: "", startedMs: 0, heartbeatMs: 1_000_000,
      endedMs: nil,
      how: nil, bootID: "this", heartbeatBootMs: 500_000)
    func isAlive(wall: Int64, boot: Int64) -> Bool {
      EngineState(run, Clocks(wallMs: wall, bootMs: boot), bootID: "this").isAlive
    }
    #expect(isAlive(wall: 90_000_000, boot: 505_000), "moved ahead")
    #expect(!isAlive(wall: 1_000_001, boot: 900_000), "moved back")
    run.bootID = "another"
    #expect(isAlive(wall: 1_030_000, boot: 1) && !isAlive(wall: 1_090_000, boot: 500_001))
  }
}
