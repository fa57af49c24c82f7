import Glibc

/// Moves the bytes of one body at the pace that the script sets: stalls, holds, slows down, and ends the body early.
struct Pacer {
  private let effect: FaultEffect
  private let wait: (Int64) -> Bool
  private let hold: (String) -> Bool
  private var isStallPending: Bool
  private var isHoldPending: Bool
  private var begin: Int64 = 0
  private(set) var moved: Int64 = 0

  /// `wait` sleeps for milliseconds, `hold` until the hold with this name is released; they return false when the
  /// request is to end instead.
  init(_ effect: FaultEffect, wait: @escaping (Int64) -> Bool, hold: @escaping (String) -> Bool) {
    self.effect = effect
    self.wait = wait
    self.hold = hold
    isStallPending = effect.stall != nil
    isHoldPending = effect.bodyHold != nil
  }

  /// The number of bytes of `wanted` that may move now, at least 1. Throws where the script ends the body.
  mutating func allowance(_ wanted: Int) throws(ExchangeEnd) -> Int {
    try stopAtMarks(isEnd: false)
    var allowed = Int64(wanted)
    if let cut = effect.cutAfter ?? effect.resetAfter { allowed = min(allowed, cut - moved) }
    if isStallPending, let stall = effect.stall { allowed = min(allowed, stall.afterBytes - moved) }
    if isHoldPending, let hold = effect.bodyHold { allowed = min(allowed, hold.afterBytes - moved) }
    if let rate = effect.slow { allowed = min(allowed, max(1, rate / 20)) }
    return Int(allowed)
  }

  /// Counts `count` moved bytes, and waits when that was faster than the script allows.
  mutating func note(_ count: Int) throws(ExchangeEnd) {
    moved += Int64(count)
    guard let rate = effect.slow else { return }
    let now = monotonicNanoseconds()
    if begin == 0 { begin = now - Int64(Double(count) / Double(rate) * 1e9 / 20) }
    let due = begin + Int64(Double(moved) / Double(rate) * 1e9)
    if due > now { try pause((due - now) / 1_000_000) }
  }

  /// The body is complete: applies the faults that the script set for positions past its end.
  mutating func finish() throws(ExchangeEnd) { try stopAtMarks(isEnd: true) }

  private mutating func stopAtMarks(isEnd: Bool) throws(ExchangeEnd) {
    if isStallPending, let stall = effect.stall, isEnd || moved >= stall.afterBytes {
      isStallPending = false
      try pause(stall.milliseconds)
    }
    if isHoldPending, let body = effect.bodyHold, isEnd || moved >= body.afterBytes {
      isHoldPending = false
      guard hold(body.name) else { throw .gone }
    }
    if let cut = effect.cutAfter, isEnd || moved >= cut { throw .cut }
    if let reset = effect.resetAfter, isEnd || moved >= reset { throw .reset }
  }

  private func pause(_ milliseconds: Int64) throws(ExchangeEnd) {
    guard wait(milliseconds) else { throw .gone }
  }
}
