import Testing

@testable import TransferEngine

/// Parts of 16 MiB over simulated lines with a simulated clock.
@Suite struct ByteWindowTests {
  @Test func oneBodyOfAnyLengthRunsAndShortOnesBesideEachOther() {
    var window = ByteWindow()
    var takes: [Bool] = []
    takes.append(window.takes(5 << 30, nowMs: 0))
    window.started(1, 5 << 30, nowMs: 0)
    takes.append(window.takes(1, nowMs: 0))
    // A request without a body is not delayed.
    takes.append(window.takes(0, nowMs: 0))
    #expect(takes == [true, false, true])
    window.ended(1, 5 << 30, stored: 0, nowMs: 1)
    #expect(fill(&window) == 16)
    #expect(window.isFull)
    window.ended(1, 1 << 20, stored: 1 << 20, nowMs: 2)
    #expect(!window.isFull)
  }

  /// Starts as many bodies of 1 MiB as may run; returns their number.
  private func fill(_ window: inout ByteWindow) -> Int {
    var count = 0
    while window.takes(1 << 20, nowMs: 1) {
      window.started(1, 1 << 20, nowMs: 1)
      count += 1
    }
    return count
  }

  /// A body that stalls, or has a rate limit of its own, does not block the others for long.
  @Test func aBodyThatTakesLongHoldsUpNoOther() {
    var window = ByteWindow()
    var takes = [window.takes(16 << 20, nowMs: 0)]
    window.started(1, 16 << 20, nowMs: 0)
    takes += [4_999, 5_000].map { window.takes(16 << 20, nowMs: $0) }
    window.started(2, 16 << 20, nowMs: 5_000)
    takes.append(window.takes(16 << 20, nowMs: 6_000))
    window.ended(2, 16 << 20, stored: 16 << 20, nowMs: 6_000)
    takes.append(window.takes(16 << 20, nowMs: 6_000))
    #expect(takes == [true, false, true, false, true])
  }

  /// Only the body that ended makes room, not another of the same length: the first body no longer counts after its
  /// end, while the second still does.
  @Test func theBodyThatEndedMakesRoom() {
    var window = ByteWindow()
    window.started(1, 16 << 20, nowMs: 0)
    var takes = [window.takes(16 << 20, nowMs: 5_000)]
    window.started(2, 16 << 20, nowMs: 5_000)
    window.ended(1, 16 << 20, stored: 0, nowMs: 6_000)
    takes.append(window.takes(16 << 20, nowMs: 6_000))
    window.ended(2, 16 << 20, stored: 0, nowMs: 7_000)
    takes.append(window.takes(16 << 20, nowMs: 7_000))
    #expect(takes == [true, false, true])
  }

  /// Each body gets 20 MB/s: twice as many move twice as much.
  @Test func itDoublesWhileThatMovesMore() {
    var line = PlayedWindow()
    let atOnce = (0..<4).map { _ in line.round { _ in 800 } }
    #expect(atOnce == [1, 2, 4, 8])
  }

  /// The bodies share 4 MB/s: a second one moves no more, and more than two are not tried.
  @Test func itStaysWhereMoreIsNotFaster() {
    var line = PlayedWindow()
    let atOnce = (0..<5).map { _ in line.round { $0 * 4_200 } }
    #expect(atOnce == [1, 2, 2, 2, 2])
  }

  /// Each connection lasts eight seconds: two parts at a time never end, one does.
  @Test func aLossLeavesOne() {
    var line = PlayedWindow()
    let first = line.round { _ in 4_200 }
    #expect(first == 1)
    line.lose(afterMs: 3_800)
    #expect(line.window.limit == PlayedWindow.part, "both were lost together, and that is one loss")
    let atOnce = (0..<21).map { _ in line.round { _ in 4_200 } }
    #expect(atOnce == Array(repeating: 1, count: 20) + [2], "one more after 20 that arrived")
  }
}

/// Simulated parts that begin together and end together.
private struct PlayedWindow {
  static let part: Int64 = 16 << 20
  var window = ByteWindow()
  private var nowMs: Int64 = 0

  /// Begins all parts that may run, and returns their number. `ms` returns how long they take.
  mutating func round(ms: (Int64) -> Int64) -> Int64 {
    let count = begin()
    nowMs += ms(count)
    for _ in 0..<count { window.ended(1, Self.part, stored: Self.part, nowMs: nowMs) }
    return count
  }

  /// The same, but the connection is lost meanwhile.
  mutating func lose(afterMs: Int64) {
    let count = begin()
    nowMs += afterMs
    for _ in 0..<count {
      window.ended(1, Self.part, stored: 0, nowMs: nowMs)
      window.halve(Self.part, nowMs: nowMs)
    }
  }

  private mutating func begin() -> Int64 {
    var count: Int64 = 0
    while count < 64, window.takes(Self.part, nowMs: nowMs) {
      window.started(1, Self.part, nowMs: nowMs)
      count += 1
    }
    return count
  }
}
