import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

@Suite struct RunProgressTests {
  private let failed = FileProgress(
    id: FileID(rawValue: 2), path: NameBytes("f2"), bytesTotal: 10, bytesAcked: 4, phase: .failed(.http4xx))

  private func snapshot(_ progress: inout RunProgress) -> ProgressSnapshot {
    let input = RunProgress.Input(
      result: RunResult(), views: [], counters: [:], sending: 3, waiting: 2, rateLimit: 7, elapsedMs: 11)
    return progress.snapshot(input, bootMs: 0, wallMs: 0)
  }

  @Test func reportsAreDueOneAfterTheOther() {
    var progress = RunProgress(isHeard: true, everyMs: 100)
    let taken = [0, 50, 100, 199, 200].map { progress.takesReport(nowMs: $0, force: false) }
    #expect(taken == [true, false, true, false, true])
    #expect(progress.takesReport(nowMs: 201, force: true) == true)
    #expect(progress.dueMs == 301)
    var unheard = RunProgress(isHeard: false, everyMs: 100)
    #expect(unheard.takesReport(nowMs: 0, force: true) == false)
    #expect(unheard.dueMs == nil)
  }

  @Test func oneCountRunsAtATimeAndTakesAHundredthOfTheTime() {
    var progress = RunProgress(isHeard: true, everyMs: 100)
    let (old, new) = (ChangeMark(file: 1, event: 0), ChangeMark(file: 1, event: 1))
    #expect(progress.takesLook(nowMs: 0) == true)
    #expect(progress.takesCount(old, nowMs: 0) == true)
    #expect(progress.takesLook(nowMs: 1_000) == false)
    progress.counted(.success(WorkSize()), nowMs: 1_020)
    // The count took 1,020 ms.
    #expect(progress.takesLook(nowMs: 100_000) == false)
    #expect(progress.takesLook(nowMs: 104_000) == true)
    #expect(progress.takesCount(old, nowMs: 104_000) == false)
    #expect(progress.takesCount(new, nowMs: 104_000) == true)
    progress.counted(.failure(TransferError(.storeBusy, "count", cause: "test")), nowMs: 104_000)
    progress.needsCount()
    #expect(progress.takesCount(new, nowMs: 105_000) == true)
  }

  @Test func whatEndedDuringACountIsCountedOnce() {
    var progress = RunProgress(isHeard: true, everyMs: 100)
    _ = progress.takesCount(ChangeMark(file: 1, event: 0), nowMs: 0)
    progress.stored(bytes: 10)
    progress.ended(size: 10, bytesAcked: 10)
    var left = WorkSize()
    (left.files, left.bytes) = (4, 40)
    progress.counted(.success(left), nowMs: 1)
    var shown = snapshot(&progress)
    #expect((shown.filesTotal, shown.bytesTotal, shown.bytesAcked) == (4, 40, 10))
    #expect((shown.sending, shown.retrying, shown.rateLimit, shown.elapsedMs) == (3, 2, 7, 11))
    progress.ended(size: 10, bytesAcked: 4)
    progress.failed(failed, nowMs: 2)
    shown = snapshot(&progress)
    #expect(shown.bytesGivenUp == 6)
    #expect(shown.files.map(\.phase) == [.failed(.http4xx)])
  }
}
