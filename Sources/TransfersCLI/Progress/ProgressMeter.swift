import TransferModel

/// A snapshot with figures derived from several of them: rates, remaining time, added files.
struct ProgressFigures: Sendable, Hashable {
  struct File: Sendable, Hashable {
    var progress: FileProgress
    var bytesPerSecond: Int64?
    var etaMs: Int64?
  }

  var now: ProgressSnapshot
  /// nil before there are two snapshots.
  var bytesPerSecond: Int64?
  /// nil in the first seconds, while the total is not known, and when nothing moves.
  var etaMs: Int64?
  /// Files that were added in the last seconds.
  var filesAdded = 0
  var files: [File] = []

  /// Percentage of the total, rounded down, so that 100 means complete. Files are counted if there are no bytes, and
  /// while not all sizes are known.
  var percent: Int {
    if now.hasBytesTotal { return ProgressText.percent(now.bytesMoved, of: now.bytesTotal) }
    return ProgressText.percent(Int64(now.filesDone), of: Int64(now.filesTotal))
  }
}

/// Turns snapshots into figures: 15 s of smoothing for the total, 5 s for a file. A value, without a clock.
struct ProgressMeter: Sendable {
  static let etaAfterMs: Int64 = 3_000
  static let addedShownMs: Int64 = 10_000

  private var total = RateEstimator()
  private var files: [FileID: RateEstimator] = [:]
  private var lastTotal: Int?
  private var added = 0
  private var addedAtMs: Int64 = 0

  mutating func read(_ now: ProgressSnapshot) -> ProgressFigures {
    total.record(bytes: now.bytesAcked - now.bytesEarlier + now.bytesInFlight, atMs: now.elapsedMs)
    noteTotal(now)
    var figures = ProgressFigures(now: now, bytesPerSecond: total.bytesPerSecond, filesAdded: added)
    var kept: [FileID: RateEstimator] = [:]
    for file in now.files {
      var estimator = files[file.id] ?? RateEstimator(constantMs: 5_000)
      estimator.record(bytes: file.bytesMoved, atMs: now.elapsedMs)
      kept[file.id] = estimator
      figures.files.append(read(file, estimator.bytesPerSecond, now))
    }
    files = kept
    figures.etaMs = eta(now, figures.bytesPerSecond)
    return figures
  }

  private mutating func noteTotal(_ now: ProgressSnapshot) {
    guard now.totalIsKnown else { return }
    if now.elapsedMs - addedAtMs >= Self.addedShownMs { added = 0 }
    if let lastTotal, now.filesTotal > lastTotal {
      added += now.filesTotal - lastTotal
      addedAtMs = now.elapsedMs
    }
    lastTotal = now.filesTotal
  }

  private func read(_ file: FileProgress, _ rate: Int64?, _ now: ProgressSnapshot) -> ProgressFigures.File {
    guard case .sending = file.phase, let rate else { return ProgressFigures.File(progress: file) }
    return ProgressFigures.File(
      progress: file, bytesPerSecond: rate,
      etaMs: time(file.bytesTotal - file.bytesMoved, rate, now))
  }

  /// Not before the last known backoff ends.
  private func eta(_ now: ProgressSnapshot, _ rate: Int64?) -> Int64? {
    guard now.waitingForServerMs == nil, now.totalIsKnown, now.sizesUnknown == 0, let rate,
      let ms = time(now.bytesLeft, rate, now)
    else { return nil }
    let waits = now.files.map { if case .retrying(let inMs, _, _, _) = $0.phase { inMs } else { Int64(0) } }
    return max(ms, waits.max() ?? 0)
  }

  private func time(_ bytes: Int64, _ rate: Int64, _ now: ProgressSnapshot) -> Int64? {
    let rate = min(rate, now.rateLimit ?? .max)
    guard now.elapsedMs >= Self.etaAfterMs, rate > 0 else { return nil }
    // At least a second while anything is left.
    return bytes > 0 ? Int64(max(1_000, min(Double(bytes) / Double(rate) * 1000, 1e12))) : 0
  }
}

extension ProgressSnapshot {
  /// The bytes of all files are known, and there are some.
  var hasBytesTotal: Bool { bytesTotal > 0 && sizesUnknown == 0 }
}
