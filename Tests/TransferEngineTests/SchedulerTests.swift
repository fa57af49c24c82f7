import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SchedulerTests {
  private let one = BatchID(rawValue: 1)
  private let two = BatchID(rawValue: 2)

  @Test func hostsTakeTurns() {
    var scheduler = Scheduler(workers: 4)
    for request in 1...6 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false) }
    scheduler.requestIsReady(10, host: "b", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [1, 10, 2, 3])
    #expect(scheduler.readyCount == 3)
  }

  @Test func urgentRequestsGoFirstWithinAHost() {
    var scheduler = Scheduler(workers: 1)
    scheduler.requestIsReady(1, host: "a", batch: one, isUrgent: false)
    scheduler.requestIsReady(2, host: "a", batch: one, isUrgent: true)
    #expect(scheduler.takeNext(nowMs: 0) == 2)
    #expect(scheduler.takeNext(nowMs: 0) == nil, "one worker")
    scheduler.requestEnded(2, host: "a", batch: one, .success, nowMs: 0)
    #expect(scheduler.takeNext(nowMs: 0) == 1)
  }

  @Test func heldRequestsArePassedOverAndStay() {
    var scheduler = Scheduler(workers: 4)
    for request in 1...3 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: request == 3) }
    let other = scheduler.takeNext(nowMs: 0, holding: { $0 != 2 })
    #expect(other == 2)
    let none = scheduler.takeNext(nowMs: 0, holding: { _ in true })
    #expect(none == nil)
    #expect(scheduler.readyCount == 2)
    #expect(takeAll(&scheduler) == [3, 1])
  }

  @Test func aDeadHostDoesNotHoldUpTheOthers() {
    var scheduler = Scheduler(workers: 8)
    for request in 1...5 { scheduler.requestIsReady(UInt64(request), host: "dead", batch: one, isUrgent: false) }
    _ = takeAll(&scheduler)
    for request in 1...5 { scheduler.requestEnded(UInt64(request), host: "dead", batch: one, .noConnection, nowMs: 0) }
    scheduler.requestIsReady(6, host: "dead", batch: one, isUrgent: false)
    scheduler.requestIsReady(7, host: "live", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [7])
    #expect(scheduler.nextOpeningMs(nowMs: 0) == 1_000)
    #expect(scheduler.hopelessHosts(afterOpens: 1) == ["dead"])
    #expect(scheduler.hopelessHosts(afterOpens: 2) == [])
  }

  /// Its requests never end, so it keeps every connection that it gets.
  @Test func aSilentHostLeavesTheOthersTheirConnections() {
    var scheduler = Scheduler(workers: 6) { Concurrency(first: $1, highest: $1, isExplicit: true) }
    scheduler.expect(hosts: ["silent", "live", "other"])
    for request in 1...20 { scheduler.requestIsReady(UInt64(request), host: "silent", batch: one, isUrgent: false) }
    #expect(
      takeAll(&scheduler) == [1, 2, 3, 4], "one is kept for each of the others, whose requests are not ready yet")
    for request in 31...33 { scheduler.requestIsReady(UInt64(request), host: "live", batch: two, isUrgent: false) }
    #expect(takeAll(&scheduler) == [31, 32], "up to its share")
    scheduler.requestEnded(31, host: "live", batch: two, .success, nowMs: 0)
    scheduler.requestIsReady(41, host: "other", batch: two, isUrgent: false)
    #expect(takeAll(&scheduler) == [41], "a host below its share goes first")
  }

  @Test func aHostThatIsAloneHasAllConnections() {
    var scheduler = Scheduler(workers: 6) { Concurrency(first: $1, highest: $1, isExplicit: true) }
    scheduler.expect(hosts: ["a", "b"])
    for request in 1...20 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false) }
    #expect(takeAll(&scheduler) == [1, 2, 3, 4, 5])
    scheduler.expect(hosts: ["a"])
    #expect(takeAll(&scheduler) == [6])
    #expect(scheduler.fairShare(nowMs: 0) == 6)
  }

  /// At a rate of 1 MB/s, bodies for ten seconds run at a time; requests without a body are not delayed.
  @Test func noMoreBodiesRunThanCanEnd() {
    var scheduler = Scheduler(workers: 9, bytesAtOnce: 10) { Concurrency(first: $1, highest: $1, isExplicit: true) }
    for request in 1...4 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false, bytes: 4) }
    scheduler.requestIsReady(5, host: "a", batch: one, isUrgent: false, bytes: 1)
    #expect(takeAll(&scheduler) == [1, 2], "and the short one does not overtake")
    scheduler.requestIsReady(6, host: "a", batch: one, isUrgent: true)
    #expect(takeAll(&scheduler) == [6])
    scheduler.requestEnded(1, host: "a", batch: one, .success, bytes: 4, length: 4, nowMs: 0)
    #expect(takeAll(&scheduler) == [3])
    for request in 2...3 as ClosedRange<UInt64> {
      scheduler.requestEnded(request, host: "a", batch: one, .success, bytes: 4, length: 4, nowMs: 0)
    }
    #expect(takeAll(&scheduler) == [4, 5])
  }

  /// At 1,000 bytes per millisecond, a body that has to end within two seconds begins only if it and the running bodies
  /// add up to at most two million bytes.
  @Test func nothingBeginsThatCannotEndBeforeItsDeadline() {
    var scheduler = Scheduler(workers: 9) { Concurrency(first: 8, highest: $1, isExplicit: true) }
    scheduler.requestIsReady(1, host: "a", batch: one, isUrgent: false, bytes: 1_000_000)
    scheduler.requestIsReady(7, host: "a", batch: one, isUrgent: false, bytes: 1)
    #expect(takeAll(&scheduler) == [1, 7])
    scheduler.requestEnded(1, host: "a", batch: one, .success, bytes: 1_000_000, length: 1_000_000, nowMs: 1_000)
    scheduler.setEnds([one: 3_000], inFlight: [:], nowMs: 1_000)
    for (request, bytes) in [(2, 2_000_001), (3, 1_500_000), (4, 600_000), (5, 0)] as [(UInt64, Int64)] {
      scheduler.requestIsReady(request, host: "a", batch: one, isUrgent: bytes == 0, bytes: bytes)
    }
    scheduler.requestIsReady(6, host: "a", batch: two, isUrgent: false, bytes: 5_000_000)
    #expect(take(&scheduler, nowMs: 1_000) == [5, 3, 6], "requests without a deadline are not checked")
    for (request, batch, length) in [(7, one, 1), (3, one, 1_500_000), (6, two, 5_000_000), (5, one, 0)]
      as [(UInt64, BatchID, Int64)]
    {
      scheduler.requestEnded(request, host: "a", batch: batch, .success, bytes: length, length: length, nowMs: 1_000)
    }
    scheduler.setEnds([one: 1_001], inFlight: [:], nowMs: 1_000)
    #expect(
      take(&scheduler, nowMs: 1_000) == [2], "if nothing runs, one may try: otherwise nothing would be measured again")
    scheduler.setEnds([:], inFlight: [:], nowMs: 2_000)
    #expect(take(&scheduler, nowMs: 2_000) == [4])
  }

  private func take(_ scheduler: inout Scheduler, nowMs: Int64) -> [UInt64] {
    var taken: [UInt64] = []
    while let request = scheduler.takeNext(nowMs: nowMs) { taken.append(request) }
    return taken
  }

  /// As long as nothing is known about the line, one part of 16 MiB runs at a time, next to requests without a body. If
  /// a person chose a number, that many run.
  @Test(arguments: [false, true])
  func longBodiesBeginOneByOne(_ isExplicit: Bool) {
    var scheduler = Scheduler(workers: 9) { Concurrency(first: 8, highest: $1, isExplicit: isExplicit) }
    for request in 1...4 {
      scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false, bytes: 16 << 20)
    }
    #expect(takeAll(&scheduler) == (isExplicit ? [1, 2, 3, 4] : [1]))
    scheduler.requestIsReady(5, host: "a", batch: one, isUrgent: true)
    #expect(takeAll(&scheduler) == [5])
    scheduler.requestEnded(1, host: "a", batch: one, .success, bytes: 16 << 20, length: 16 << 20, nowMs: 100)
    #expect(takeAll(&scheduler) == (isExplicit ? [] : [2, 3]), "it moved, so twice as much is tried")
  }

  /// Connections that a host cannot use for its long bodies are available to the others.
  @Test func aHostThatWaitsForItsBodiesKeepsNoConnections() {
    var scheduler = Scheduler(workers: 8) { Concurrency(first: 8, highest: $1, isExplicit: false) }
    scheduler.expect(hosts: ["a", "b"])
    for request in 1...4 {
      scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false, bytes: 16 << 20)
    }
    #expect(takeAll(&scheduler) == [1])
    for request in 11...20 {
      scheduler.requestIsReady(UInt64(request), host: "b", batch: two, isUrgent: false, bytes: 1)
    }
    #expect(takeAll(&scheduler).count == 7)
  }

  @Test func oneBodyOfAnyLengthAlwaysRuns() {
    var scheduler = Scheduler(workers: 9, bytesAtOnce: 10) { Concurrency(first: $1, highest: $1, isExplicit: true) }
    for request in 1...2 {
      scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false, bytes: 4_000)
    }
    #expect(takeAll(&scheduler) == [1])
    scheduler.requestEnded(1, host: "a", batch: one, .success, bytes: 4_000, length: 4_000, nowMs: 0)
    #expect(takeAll(&scheduler) == [2])
  }

  /// Connections that one host does not need are used by the others.
  @Test func connectionsThatNobodyElseWantsAreUsed() {
    var scheduler = Scheduler(workers: 8) { Concurrency(first: $1, highest: $1, isExplicit: true) }
    for request in 1...20 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: false) }
    scheduler.requestIsReady(31, host: "b", batch: two, isUrgent: false)
    #expect(takeAll(&scheduler).count == 8)
    #expect(scheduler.gate(host: "b")?.sending == 1)
    #expect(scheduler.gate(host: "a")?.sending == 7)
  }

  @Test func takingAFilesRequestsLeavesTheOthersInOrder() {
    var scheduler = Scheduler(workers: 9)
    for request in 1...6 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: request == 3) }
    #expect(scheduler.takeReady { $0 % 3 == 0 } == [3, 6])
    #expect(takeAll(&scheduler) == [1, 2, 4, 5])
    #expect(scheduler.readyCount == 0)
  }

  @Test func aBatchWithItsShareIsPassedOverUntilOneOfItsRequestsEnds() {
    var scheduler = Scheduler(workers: 9)
    scheduler.setLimit(2, of: one, sending: 0)
    for request in 1...4 { scheduler.requestIsReady(UInt64(request), host: "a", batch: one, isUrgent: request == 4) }
    for request in 5...7 { scheduler.requestIsReady(UInt64(request), host: "a", batch: two, isUrgent: false) }
    #expect(takeAll(&scheduler) == [4, 1, 5, 6, 7])
    #expect(scheduler.readyCount == 2)
    scheduler.requestEnded(5, host: "a", batch: two, .success, nowMs: 0)
    #expect(takeAll(&scheduler) == [])
    scheduler.requestEnded(4, host: "a", batch: one, .success, nowMs: 0)
    #expect(takeAll(&scheduler) == [2])
    scheduler.setLimit(nil, of: one, sending: 2)
    #expect(takeAll(&scheduler) == [3])
  }

  @Test func aShareCountsWhatRunsAlreadyAndAllHostsTogether() {
    var scheduler = Scheduler(workers: 9)
    scheduler.requestIsReady(1, host: "a", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [1])
    scheduler.setLimit(2, of: one, sending: 1)
    for request in 2...4 {
      scheduler.requestIsReady(UInt64(request), host: request == 2 ? "a" : "b", batch: one, isUrgent: false)
    }
    #expect(takeAll(&scheduler) == [2])
    #expect(scheduler.takeReady { $0 == 4 } == [4])
    #expect(scheduler.takeAllReady() == [3])
    #expect(scheduler.readyCount == 0)
  }

  @Test func theQueueKeepsItsOrderOverManyRounds() {
    var queue = FIFO<Int>()
    var expected = 0
    for n in 0..<1_000 {
      queue.append(n)
      if n % 3 != 0 {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
    }
    while let next = queue.popFirst() {
      #expect(next == expected)
      expected += 1
    }
    #expect(expected == 1_000)
  }

  private func takeAll(_ scheduler: inout Scheduler) -> [Scheduler.RequestID] {
    var all: [Scheduler.RequestID] = []
    while let request = scheduler.takeNext(nowMs: 0) { all.append(request) }
    return all
  }
}
