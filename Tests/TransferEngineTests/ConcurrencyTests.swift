import Testing

@testable import TransferEngine

/// Simulated hosts with a latency, a limit for requests that they process at a time, and a line, on a simulated clock.
@Suite struct ConcurrencyTests {
  /// 300 files at 0.4 s each, with the requested concurrency from the start.
  @Test func anExplicitNumberIsWhereItBegins() {
    var host = PlayedHost(Concurrency(first: 200, highest: 200, isExplicit: true))
    #expect(host.play(requests: 300) == 800)
    #expect(host.concurrency.limit == 200)
  }

  @Test func itDoublesWithEachRoundOfAHostThatOnlyNeedsTime() {
    var host = PlayedHost(Concurrency(first: 8, highest: 64, isExplicit: false))
    // 8, 16, 32, 64 and then 64 in each round.
    #expect(host.play(requests: 8 + 16 + 32 + 64 + 2 * 64) == 6 * 400)
    #expect(host.concurrency.limit == 64)
    #expect(host.concurrency.isLearned)
  }

  /// The first eight requests fill the line: more at a time only makes each slower.
  @Test func itGoesBackWhenMoreIsNotFaster() {
    var host = PlayedHost(Concurrency(first: 8, highest: 64, isExplicit: false))
    host.atOnce = 8
    _ = host.play(requests: 400)
    #expect(host.concurrency.limit == 8)
    #expect(host.mostAtOnce == 16)
  }

  /// After a minute it tries more again: the host has become faster.
  @Test func itLooksAgainAfterAWhile() {
    var host = PlayedHost(Concurrency(first: 8, highest: 64, isExplicit: false))
    host.atOnce = 8
    _ = host.play(requests: 400)
    host.atOnce = .max
    _ = host.play(requests: 3_000)
    #expect(host.concurrency.limit == 64)
  }

  /// A limit that was never reached says nothing.
  @Test func itDoesNotGrowWhileItIsNotUsed() {
    var concurrency = Concurrency(first: 8, highest: 64, isExplicit: false)
    for n in Int64(0)..<1_000 {
      concurrency.started(sending: 3, nowMs: n * 100)
      concurrency.succeeded(bytes: 0, nowMs: n * 100 + 50)
    }
    #expect(concurrency.limit == 8)
    #expect(!concurrency.isLearned)
  }

  @Test func throttlingHalvesItAndTwentySuccessesAddOne() {
    var concurrency = Concurrency(first: 10, highest: 10, isExplicit: true)
    concurrency.halve(sending: 10, nowMs: 1_000)
    #expect(concurrency.limit == 5)
    concurrency.halve(sending: 5, nowMs: 2_000)
    #expect(concurrency.limit == 5, "halved again within five seconds")
    concurrency.halve(sending: 5, nowMs: 6_000)
    #expect(concurrency.limit == 2)
    for _ in 0..<40 {
      concurrency.started(sending: concurrency.limit, nowMs: 7_000)
      concurrency.succeeded(bytes: 0, nowMs: 7_000)
    }
    #expect(concurrency.limit == 4)
  }

  /// Half of the running requests, not of the limit: five parts of a file were lost together.
  @Test func aLossHalvesWhatWasUnderWay() {
    var concurrency = Concurrency(first: 64, highest: 64, isExplicit: true)
    concurrency.halve(sending: 5, nowMs: 0)
    #expect(concurrency.limit == 2)
    concurrency.halve(sending: 2, nowMs: 8_000)
    #expect(concurrency.limit == 1)
    concurrency.halve(sending: 1, nowMs: 16_000)
    #expect(concurrency.limit == 1)
  }
}

/// Requests that each take 0.4 s on a server that processes `atOnce` of them concurrently.
private struct PlayedHost {
  var concurrency: Concurrency
  var atOnce = Int.max
  private(set) var mostAtOnce = 0
  private var nowMs: Int64 = 0

  init(_ concurrency: Concurrency) { self.concurrency = concurrency }

  /// Returns how long all requests take together, in milliseconds.
  mutating func play(requests: Int) -> Int64 {
    let beganMs = nowMs
    var left = requests
    var ends: [Int64] = []
    while left > 0 || !ends.isEmpty {
      while left > 0, ends.count < concurrency.limit {
        // The request waits for a free slot on the server.
        let waitsFor = ends.count >= atOnce ? ends[ends.count - atOnce] : nowMs
        ends.append(waitsFor + 400)
        left -= 1
        concurrency.started(sending: ends.count, nowMs: nowMs)
        mostAtOnce = max(mostAtOnce, ends.count)
      }
      nowMs = ends.removeFirst()
      concurrency.succeeded(bytes: 1_000, nowMs: nowMs)
    }
    return nowMs - beganMs
  }
}
