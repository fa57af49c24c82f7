import TransferModel

/// Divides a wall time into its parts in one pass over attempts in the order in which they began. It keeps only
/// concurrent requests and waits, so its memory does not grow with the number of attempts.
///
/// The parts always sum to the wall time, because each interval is assigned once, to the active state with the highest
/// rank. Changes before the current position, as after a clock that was set back, count from the position.
package struct WallSweep {
  private let frame: WallFrame
  private var nowMs: Int64
  private var changes = ChangeQueue()
  /// The number of active states, by ``Slot``.
  private var counts = [Int](repeating: 0, count: Slot.count)
  /// Backoffs, with their ends.
  private var waits: [WaitKey: Int64] = [:]
  private var paused = NumberRanges()
  private var result = WallResult()
  /// Time without work since the last request, not yet assigned: it may turn out to be the time before a retry.
  private var idle = WallParts()

  package init(_ frame: WallFrame) {
    self.frame = frame
    nowMs = frame.window.fromMs
    for span in frame.running { changes.push(span, .engine) }
    for span in frame.asleep { changes.push(span, .asleep) }
    for span in frame.hostWaits { changes.push(span, .hostWait) }
    for index in frame.decisions.indices where frame.decisions[index].atMs <= frame.window.toMs {
      changes.push(Change(atMs: frame.decisions[index].atMs, rank: 1, what: .decision(index)))
    }
  }

  /// The next attempt. Attempts come in the order in which they began.
  package mutating func add(_ attempt: AttemptTrace) {
    advance(to: attempt.startedMs)
    let key = WaitKey(file: attempt.file, chunk: attempt.chunk)
    waits[key] = nil
    waits[WaitKey(file: attempt.file, chunk: nil)] = nil
    let lastMs = min(frame.window.toMs, frame.lastLifeMs[attempt.run] ?? .max)
    let phases = AttemptPhases(attempt, lastMs: lastMs)
    for (part, span) in phases.phases { changes.push(span, .part(part)) }
    guard attempt.outcome == .retry, let backoff = attempt.backoffMs, backoff > 0 else { return }
    let until = phases.endMs.addingReportingOverflow(backoff)
    let wait = Change.What.wait(key, until: until.overflow ? .max : until.partialValue)
    changes.push(Change(atMs: phases.endMs, rank: 0, what: wait))
  }

  /// Advances to the end of the wall time. Nothing may be added afterwards.
  package mutating func finish() -> WallResult {
    advance(to: frame.window.toMs)
    result.parts.add(idle)
    idle = WallParts()
    return result
  }

  private mutating func advance(to moment: Int64) {
    while let change = changes.pop(through: moment) {
      pass(to: change.atMs)
      apply(change)
    }
    pass(to: moment)
  }

  private mutating func pass(to moment: Int64) {
    let to = min(moment, frame.window.toMs)
    guard to > nowMs else { return }
    let length = to -| nowMs
    nowMs = to
    let requests = WallPart.onTheWire.reduce(0) { $0 + counts[Slot.part($1).index] }
    result.peakRequests = max(result.peakRequests, requests)
    result.requestMs +|= Int64(requests) *| length
    credit(length)
  }

  private mutating func credit(_ length: Int64) {
    if counts[Slot.asleep.index] > 0 {
      result.parts[.down] +|= length
      result.asleepMs +|= length
    } else if let part = working {
      result.parts.add(idle)
      idle = WallParts()
      result.parts[part] +|= length
    } else if isHostWaiting {
      idle[.throttled] +|= length
    } else {
      idle[counts[Slot.engine.index] > 0 ? .queued : .down] +|= length
    }
  }

  /// The first active state of the files themselves.
  private var working: WallPart? {
    if let part = WallPart.onTheWire.first(where: { counts[Slot.part($0).index] > 0 }) { return part }
    if !waits.isEmpty { return .backoff }
    if counts[Slot.part(.throttled).index] > 0 { return .throttled }
    if paused.isEmpty { return nil }
    return isHostWaiting ? .throttled : .paused
  }

  private var isHostWaiting: Bool { counts[Slot.hostWait.index] > 0 }

  private mutating func apply(_ change: Change) {
    switch change.what {
    case .begin(let slot): counts[slot.index] += 1
    case .end(let slot): counts[slot.index] -= 1
    case .wait(let key, let until):
      waits[key] = until
      changes.push(Change(atMs: until, rank: 2, what: .waited(key)))
    case .waited(let key): if waits[key] == change.atMs { waits[key] = nil }
    case .decision(let index): decide(frame.decisions[index])
    }
  }

  /// Applies a decision about a file, which also ends its backoff.
  private mutating func decide(_ decision: FileDecision) {
    let files = NumberRanges(decision.files)
    if !waits.isEmpty { waits = waits.filter { !files.contains($0.key.file.rawValue) } }
    for range in decision.files {
      if decision.kind == .paused { paused.insert(range) } else { paused.remove(range) }
    }
    guard frame.isOneFile else { return }
    switch decision.kind {
    case .paused, .resumed: return
    case .cancelled: result.parts.add(idle)
    case .retried, .resolved:
      result.parts[.paused] +|= idle.totalMs
      result.restedMs +|= idle.totalMs
    }
    idle = WallParts()
  }
}

/// The division of a wall time.
package struct WallResult: Sendable, Hashable {
  package var parts = WallParts()
  /// The part of `down` in which the machine slept while an engine ran.
  package var asleepMs: Int64 = 0
  /// Part of `paused`: the file had failed or was cancelled, until somebody retried it.
  package var restedMs: Int64 = 0
  /// The maximum number of concurrent requests, and the total time of all requests.
  package var peakRequests = 0
  package var requestMs: Int64 = 0

  package init() {}
}

extension WallPart {
  /// The parts of running requests.
  static let onTheWire: [WallPart] = [.send, .server, .connect, .verify]
}

/// The file or chunk in backoff.
struct WaitKey: Hashable {
  let file: FileID
  /// nil if it applies to the whole file.
  let chunk: ChunkID?
}
