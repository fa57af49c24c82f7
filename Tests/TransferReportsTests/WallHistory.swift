import TransferModel
import TransferTestSupport

@testable import TransferReports

/// A random history, possible or impossible: attempts that overlap, end in the future or before they begin, and clocks
/// that step back. Times are small, so that every millisecond can be examined, and are often equal.
struct WallHistory {
  var frame: WallFrame
  var attempts: [AttemptTrace]

  init(seed: UInt64) {
    var random = SplitMix(state: seed)
    let from = Int64.random(in: -5...20, using: &random)
    frame = WallFrame(TimeSpan(from, from + Int64.random(in: 0...70, using: &random)))
    frame.isOneFile = Bool.random(using: &random)
    frame.running = Self.spans(3, 40, &random)
    frame.asleep = Self.spans(1, 10, &random)
    frame.hostWaits = Self.spans(2, 10, &random)
    for run in 1...3 where Bool.random(using: &random) {
      frame.lastLifeMs[RunID(rawValue: Int64(run))] = Int64.random(in: 0...90, using: &random)
    }
    let files: ClosedRange<Int64> = frame.isOneFile ? 1...1 : 1...4
    frame.decisions = (0..<Int.random(in: 0...5, using: &random)).map { _ in Self.decision(files, &random) }
      .sorted { $0.atMs < $1.atMs }
    attempts = (0..<Int.random(in: 0...9, using: &random)).map { _ in Self.attempt(files, &random) }
      .sorted { $0.startedMs < $1.startedMs }
  }

  /// The result of the sweep for this history.
  func swept() -> WallResult {
    var sweep = WallSweep(frame)
    for attempt in attempts { sweep.add(attempt) }
    return sweep.finish()
  }

  private static func spans(_ most: Int, _ longest: Int64, _ random: inout SplitMix) -> [TimeSpan] {
    (0..<Int.random(in: 0...most, using: &random)).map { _ in
      let from = Int64.random(in: -5...80, using: &random)
      return TimeSpan(from, from + Int64.random(in: -2...longest, using: &random))
    }
  }

  private static func decision(_ files: ClosedRange<Int64>, _ random: inout SplitMix) -> FileDecision {
    let low = Int64.random(in: files, using: &random)
    let high = Int64.random(in: low...files.upperBound, using: &random)
    return FileDecision(
      FileDecision.Kind.allCases.randomElement(using: &random)!, atMs: Int64.random(in: -5...90, using: &random),
      files: [low...high])
  }

  private static func attempt(_ files: ClosedRange<Int64>, _ random: inout SplitMix) -> AttemptTrace {
    let started = Int64.random(in: -5...80, using: &random)
    let operations: [AttemptOperation] = [.part, .part, .part, .create, .probe, .verify, .finish]
    let chunk = Int64.random(in: 0...2, using: &random)
    var attempt = AttemptTrace(
      file: FileID(rawValue: Int64.random(in: files, using: &random)),
      chunk: chunk == 0 ? nil : ChunkID(rawValue: chunk),
      run: RunID(rawValue: Int64.random(in: 1...3, using: &random)),
      operation: operations.randomElement(using: &random)!,
      outcome: AttemptOutcome.allCases.randomElement(using: &random)!, startedMs: started,
      endedMs: Int64.random(in: 0...5, using: &random) == 0 ? nil : started + Int64.random(in: 0...30, using: &random))
    func some(_ range: ClosedRange<Int64>) -> Int64? {
      Bool.random(using: &random) ? Int64.random(in: range, using: &random) : nil
    }
    attempt.isDownload = Bool.random(using: &random)
    attempt.errorCode = ["net.dns", "http.503", nil, nil].randomElement(using: &random)!
    attempt.bytesTransferred = Int64.random(in: 0...1, using: &random)
    (attempt.connectMs, attempt.sentMs, attempt.firstByteMs) = (some(0...8), some(0...20), some(0...20))
    (attempt.totalMs, attempt.backoffMs) = (some(0...30), some(-1...25))
    attempt.heldMs = some(0...10) ?? 0
    return attempt
  }
}
