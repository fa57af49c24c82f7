import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine

/// Which files are shown, and in which phase.
@Suite struct ProgressTrackerTests {
  private func view(
    _ id: Int64, size: Int64 = 100, acked: Int64 = 0, sending: [UInt64] = [], dueMs: Int64? = nil
  ) -> ProgressTracker.View {
    ProgressTracker.View(
      id: FileID(rawValue: id), path: NameBytes("f\(id)"), size: size, bytesAcked: acked,
      sending: sending.map { ($0, 40) }, dueMs: dueMs, isBusy: !sending.isEmpty)
  }

  private func file(_ id: Int64, _ phase: FileProgress.Phase) -> FileProgress {
    FileProgress(id: FileID(rawValue: id), path: NameBytes("f\(id)"), bytesTotal: 100, bytesAcked: 0, phase: phase)
  }

  private let retrying = FileProgress.Phase.retrying(inMs: 0, .http503, number: 3, limit: 8)

  @Test func bytesInFlightAreThoseOfItsRequestsAndNeverMoreThanTheirBodies() {
    var tracker = ProgressTracker()
    let look = tracker.look(
      [view(1, acked: 20, sending: [1, 2]), view(2, sending: [3])], counters: [1: 10, 2: 99, 3: 5, 9: 1000], bootMs: 0,
      wallMs: 0)
    #expect(look.files.map(\.bytesInFlight) == [50, 5].reversed() || look.files.map(\.bytesInFlight) == [5, 50])
    #expect(look.bytesInFlight == 55)
  }

  /// A request that ended no longer has a counter, but its answer is not processed yet: the value must not flicker.
  @Test func bytesStayInFlightUntilTheAnswerIsCounted() {
    var tracker = ProgressTracker()
    _ = tracker.look([view(1, sending: [1])], counters: [1: 40], bootMs: 0, wallMs: 0)
    #expect(tracker.look([view(1, sending: [1])], counters: [:], bootMs: 100, wallMs: 0).bytesInFlight == 40)
    let after = tracker.look([view(1, acked: 40)], counters: [:], bootMs: 200, wallMs: 0)
    #expect(after.bytesInFlight == 0 && after.files.first?.bytesAcked == 40)
  }

  @Test func aFileIsStalledAfterTenSecondsWithoutAByte() {
    var tracker = ProgressTracker()
    func phase(_ count: Int64, _ ms: Int64) -> FileProgress.Phase? {
      tracker.look([view(1, sending: [1])], counters: [1: count], bootMs: ms, wallMs: 0).files.first?.phase
    }
    #expect(phase(10, 0) == .sending)
    #expect(phase(11, 5_000) == .sending)
    #expect(phase(11, 14_999) == .sending)
    #expect(phase(11, 15_000) == .stalled(forMs: 10_000))
    #expect(phase(11, 16_000) == .stalled(forMs: 11_000))
    #expect(phase(12, 17_000) == .sending)
  }

  /// Everything was sent and the answer is awaited, or a last step is running: nothing is stalled, and the wait is
  /// timed.
  @Test func aFileOfWhichAllHasGoneOutWaitsForItsServer() {
    var tracker = ProgressTracker()
    func look(_ views: [ProgressTracker.View], _ count: UInt64, _ ms: Int64) -> ProgressTracker.Look {
      tracker.look(views, counters: [1: Int64(count)], bootMs: ms, wallMs: 0)
    }
    let body = view(1, acked: 60, sending: [1])
    #expect(look([body], 39, 0).files.map(\.phase) == [.sending])
    #expect(look([body], 40, 500).files.map(\.phase) == [.sending])
    #expect(look([body], 40, 1_499).waitingForServerMs == nil)
    #expect(look([body], 40, 1_500).files.map(\.phase) == [.waitingForServer(forMs: 1_000)])
    #expect(look([body], 40, 130_500).waitingForServerMs == 130_000)
    var last = view(2, acked: 100)
    (last.isBusy, last.finishingSinceMs) = (true, 130_000)
    let both = look([body, last], 40, 130_900)
    #expect(both.files.map(\.phase).contains(.finishing) && both.waitingForServerMs == nil, "one has just begun")
    #expect(look([body, last], 40, 131_000).waitingForServerMs == 130_500)
    #expect(look([body, last, view(3, sending: [9])], 40, 132_000).waitingForServerMs == nil, "another is being sent")
    #expect(look([view(4, acked: 20, sending: [1])], 40, 200_000).waitingForServerMs == nil, "other chunks are to come")
    #expect(look([], 0, 300_000).waitingForServerMs == nil)
  }

  @Test func aBackoffCountsDownInsideAndOutsideTheEngine() {
    var tracker = ProgressTracker()
    tracker.noteRetry(file(1, retrying), dueMs: 20_000)
    tracker.noteRetry(file(2, retrying), dueMs: 12_000)
    let look = tracker.look([view(1, dueMs: 20_000)], counters: [:], bootMs: 0, wallMs: 8_000)
    #expect(
      look.files.map(\.phase) == [
        .retrying(inMs: 12_000, .http503, number: 3, limit: 8), .retrying(inMs: 4_000, .http503, number: 3, limit: 8),
      ])
    #expect(look.waitingOutside == 1)
    let later = tracker.look([view(1, dueMs: 20_000)], counters: [:], bootMs: 0, wallMs: 12_000)
    #expect(later.files.map(\.id.rawValue) == [1] && later.waitingOutside == 0)
  }

  @Test func aFileWithOtherRequestsIsBeingSentWhileOneOfThemBacksOff() {
    var tracker = ProgressTracker()
    tracker.noteRetry(file(1, retrying), dueMs: 20_000)
    let look = tracker.look([view(1, sending: [1], dueMs: 20_000)], counters: [:], bootMs: 0, wallMs: 0)
    #expect(look.files.map(\.phase) == [.sending])
  }

  @Test func whatNeedsAttentionComesFirstThenWhatTakesLongest() {
    var tracker = ProgressTracker()
    let views = [view(1, size: 50, sending: [1]), view(2, size: 900, sending: [2]), view(3, size: 70, sending: [3])]
    _ = tracker.look(views, counters: [1: 1], bootMs: 0, wallMs: 0)
    tracker.noteRetry(file(4, retrying), dueMs: 99_000)
    tracker.noteFailure(file(5, .failed(.http413)), atMs: 9_000)
    let look = tracker.look(views, counters: [1: 1, 2: 5, 3: 5], bootMs: 10_000, wallMs: 0)
    #expect(look.files.map(\.id.rawValue) == [5, 4, 1, 2, 3])
    let later = tracker.look(views, counters: [1: 2, 2: 6, 3: 6], bootMs: 19_000, wallMs: 0)
    #expect(later.files.map(\.id.rawValue) == [4, 2, 3, 1], "a failure is shown for ten seconds")
  }

  @Test func neverMoreThanSixtyFour() {
    var tracker = ProgressTracker()
    let views = (1...400).map { view(Int64($0), size: Int64($0), sending: [UInt64($0)]) }
    let look = tracker.look(views, counters: [:], bootMs: 0, wallMs: 0)
    #expect(look.files.count == 64)
    #expect(look.files.first?.id == FileID(rawValue: 400))
  }

  /// Random histories of requests that make progress, succeed or fail: the acknowledged bytes of a file never decrease,
  /// and the bytes moved are never more than the file.
  @Test func onlyBytesInFlightAreEverTakenAway() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      var tracker = ProgressTracker()
      var (acked, running, nextJob): (Int64, [UInt64: Int64], UInt64) = (0, [:], 1)
      var ackedBefore: Int64 = 0
      for step in 0..<200 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where acked + Int64(running.count + 1) * 40 <= 1_000:
          running[nextJob] = 0
          nextJob += 1
        case 1: if let job = running.keys.randomElement(using: &generator) { running[job] = nil }
        case 2:
          if let job = running.keys.randomElement(using: &generator) {
            running[job] = nil
            acked += 40
          }
        default: for job in running.keys { running[job]! += Int64.random(in: 0...20, using: &generator) }
        }
        let look = tracker.look(
          [view(1, size: 1_000, acked: acked, sending: Array(running.keys))], counters: running,
          bootMs: Int64(step) * 100, wallMs: 0)
        let file = look.files[0]
        #expect(file.bytesAcked >= ackedBefore && file.bytesAcked == acked)
        #expect(file.bytesAcked + file.bytesInFlight <= 1_000)
        #expect(file.bytesInFlight == running.values.reduce(0) { $0 + min($1, 40) })
        ackedBefore = file.bytesAcked
      }
    }
  }
}

/// The totals of a run, while others change the remaining work.
@Suite struct ProgressTotalsTests {
  private func snapshot(_ totals: ProgressTotals) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    totals.fill(&snapshot)
    return snapshot
  }

  @Test func nothingIsKnownBeforeTheFirstCount() {
    var totals = ProgressTotals()
    #expect(!snapshot(totals).totalIsKnown)
    totals.askedForCount()
    totals.counted(WorkSize(files: 3, bytes: 300, bytesAcked: 50))
    #expect(snapshot(totals).totalIsKnown)
    #expect(snapshot(totals).filesTotal == 3)
    #expect((snapshot(totals).bytesTotal, snapshot(totals).bytesAcked, snapshot(totals).bytesEarlier) == (300, 50, 50))
  }

  /// Ten files of 100 bytes; a count runs while files end, and finds two more files.
  @Test func aCountThatIsUnderWayCountsNothingTwice() {
    var totals = ProgressTotals()
    totals.askedForCount()
    totals.counted(WorkSize(files: 10, bytes: 1_000, bytesAcked: 30))
    func done() {
      totals.stored(bytes: 100)
      totals.ended(size: 100, bytesAcked: 100)
    }
    for _ in 0..<3 { done() }
    totals.stored(bytes: 40)
    totals.askedForCount()
    for _ in 0..<2 { done() }
    totals.counted(WorkSize(files: 9, bytes: 900, bytesAcked: 70))
    let now = snapshot(totals)
    #expect((now.filesTotal, now.bytesTotal) == (12, 1_200))
    #expect((now.bytesEarlier, now.bytesAcked) == (30, 570))
  }

  @Test func failedFilesStayInTheTotalAndAreNotWaitedFor() {
    var totals = ProgressTotals()
    totals.askedForCount()
    totals.counted(WorkSize(files: 2, bytes: 200, bytesAcked: 0))
    totals.stored(bytes: 25)
    totals.ended(size: 100, bytesAcked: 25)
    #expect((snapshot(totals).bytesTotal, snapshot(totals).bytesAcked, snapshot(totals).bytesGivenUp) == (200, 25, 75))
    #expect(snapshot(totals).bytesLeft == 100)
  }

  /// Sizes are what lists and servers declare.
  @Test func absurdSizesStopAtTheLargestNumber() {
    var totals = ProgressTotals()
    totals.askedForCount()
    totals.counted(WorkSize(files: 2, bytes: .max, bytesAcked: 0))
    #expect(snapshot(totals).bytesTotal == Int64.max && snapshot(totals).bytesMoved == 0)
    for _ in 0..<2 { totals.ended(size: .max, bytesAcked: 1) }
    totals.askedForCount()
    totals.counted(WorkSize(files: 1, bytes: .max, bytesAcked: 0))
    #expect((snapshot(totals).bytesTotal, snapshot(totals).bytesGivenUp) == (Int64.max, Int64.max))
    #expect(snapshot(totals).bytesLeft == 0)
  }

  /// It is unknown how many files a listing will name that has not begun.
  @Test func aTotalWithListingsIsNotKnown() {
    var (totals, snapshot) = (ProgressTotals(), ProgressSnapshot())
    for hasListings in [true, false] {
      var size = WorkSize(files: 3)
      size.hasListings = hasListings
      totals.askedForCount()
      totals.counted(size)
      totals.fill(&snapshot)
      #expect(snapshot.totalIsKnown == !hasListings && snapshot.filesTotal == 3)
    }
  }
}
