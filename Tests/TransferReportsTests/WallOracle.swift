import TransferModel

@testable import TransferReports

/// Applies the definition of the nine parts to each millisecond separately: no events, no counters, no order.
struct WallOracle {
  let frame: WallFrame
  let attempts: [AttemptTrace]

  func parts() -> WallParts {
    var parts = WallParts()
    for moment in frame.window.fromMs..<max(frame.window.fromMs, frame.window.toMs) { parts[part(at: moment)] += 1 }
    return parts
  }

  func asleepMs() -> Int64 {
    Int64((frame.window.fromMs..<max(frame.window.fromMs, frame.window.toMs)).count { isIn(frame.asleep, $0) })
  }

  private func part(at t: Int64) -> WallPart {
    if isIn(frame.asleep, t) { return .down }
    if let busy = busyPart(at: t) { return busy }
    if frame.isOneFile, wasAtRest(t) { return .paused }
    if isIn(frame.hostWaits, t) { return .throttled }
    return isIn(frame.running, t) ? .queued : .down
  }

  private func busyPart(at t: Int64) -> WallPart? {
    let doing = attempts.compactMap { self.doing($0, at: t) }
    for part in [WallPart.send, .server, .connect, .verify] where doing.contains(part) { return part }
    if attempts.indices.contains(where: { backsOff($0, at: t) }) { return .backoff }
    if doing.contains(.throttled) { return .throttled }
    let isPaused = (Int64(1)...4).contains { file in
      frame.decisions.last { $0.atMs <= t && covers($0, file) }?.kind == .paused
    }
    guard isPaused else { return nil }
    return isIn(frame.hostWaits, t) ? .throttled : .paused
  }

  /// Whether no work was done from this moment until the file was retried or resolved.
  private func wasAtRest(_ t: Int64) -> Bool {
    let next = frame.decisions.first { decision in
      decision.atMs > t && [.cancelled, .retried, .resolved].contains(decision.kind)
    }
    guard let next, next.kind != .cancelled, next.atMs <= frame.window.toMs else { return false }
    return !(t..<next.atMs).contains { !isIn(frame.asleep, $0) && busyPart(at: $0) != nil }
  }

  private func doing(_ a: AttemptTrace, at t: Int64) -> WallPart? {
    let end = end(of: a)
    guard t >= a.startedMs, t < end else { return nil }
    let measured = [a.totalMs, a.connectMs, a.firstByteMs, a.sentMs].compactMap(\.self)
    if a.outcome == .interrupted, a.endedMs != nil, measured.isEmpty, a.bytesTransferred == 0 { return nil }
    let wire = max(a.startedMs, end - (a.totalMs ?? .max / 2))
    guard t >= wire else { return nil }
    let into = t - wire
    if a.errorCode == "net.dns", a.firstByteMs == nil { return .connect }
    if into < a.connectMs ?? 0 { return .connect }
    if a.operation == .verify { return .verify }
    let hasBody = a.operation == .part || a.bytesTransferred > 0
    if a.isDownload {
      guard hasBody, let first = a.firstByteMs, into >= first else { return .server }
      return t >= end - a.heldMs ? .throttled : .send
    }
    let sent = a.sentMs ?? (hasBody ? a.firstByteMs ?? end - wire : 0)
    if into >= sent { return .server }
    return into >= sent - a.heldMs ? .throttled : .send
  }

  private func backsOff(_ index: Int, at t: Int64) -> Bool {
    let a = attempts[index]
    guard a.outcome == .retry, let backoff = a.backoffMs, backoff > 0 else { return false }
    let end = end(of: a)
    guard t >= end, t - end < backoff else { return false }
    let isOver = attempts.indices.contains { other in
      let b = attempts[other]
      return b.file == a.file && (b.chunk == a.chunk || a.chunk == nil) && other > index && b.startedMs >= end
        && b.startedMs <= t
    }
    let replaced = attempts.indices.contains { other in
      let b = attempts[other]
      guard b.file == a.file, b.chunk == a.chunk, b.outcome == .retry, b.backoffMs ?? 0 > 0, other != index else {
        return false
      }
      let otherEnd = self.end(of: b)
      return otherEnd <= t && (otherEnd, other) > (end, index)
    }
    let decided = frame.decisions.contains { decision in
      covers(decision, a.file.rawValue) && decision.atMs <= t
        && (decision.atMs > end || decision.atMs == end && a.startedMs < end)
    }
    return !isOver && !replaced && !decided
  }

  private func end(of a: AttemptTrace) -> Int64 {
    let last = min(frame.window.toMs, frame.lastLifeMs[a.run] ?? .max)
    return max(a.startedMs, a.outcome == .crashed ? last : a.endedMs ?? last)
  }

  private func covers(_ decision: FileDecision, _ file: Int64) -> Bool {
    decision.files.contains { $0.contains(file) }
  }

  private func isIn(_ spans: [TimeSpan], _ t: Int64) -> Bool { spans.contains { $0.fromMs <= t && t < $0.toMs } }
}
