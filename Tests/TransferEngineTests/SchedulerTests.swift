import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SchedulerTests {
  private let one = BatchID(rawValue: 1)
  private let two = BatchID(rawValue: 2)

  @Test func hostsTakeTurns() {
    var scheduler = Scheduler(workers: 4)
    for job in 1...6 { scheduler.jobIsReady(UInt64(job), host: "a", batch: one, isUrgent: false) }
    scheduler.jobIsReady(10, host: "b", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [1, 10, 2, 3])
    #expect(scheduler.readyCount == 3)
  }

  @Test func urgentRequestsGoFirstWithinAHost() {
    var scheduler = Scheduler(workers: 1)
    scheduler.jobIsReady(1, host: "a", batch: one, isUrgent: false)
    scheduler.jobIsReady(2, host: "a", batch: one, isUrgent: true)
    #expect(scheduler.takeNext(nowMs: 0) == 2)
    #expect(scheduler.takeNext(nowMs: 0) == nil, "one worker")
    scheduler.jobEnded(host: "a", batch: one, .success, nowMs: 0)
    #expect(scheduler.takeNext(nowMs: 0) == 1)
  }

  @Test func aDeadHostDoesNotHoldUpTheOthers() {
    var scheduler = Scheduler(workers: 8)
    for job in 1...5 { scheduler.jobIsReady(UInt64(job), host: "dead", batch: one, isUrgent: false) }
    _ = takeAll(&scheduler)
    for _ in 1...5 { scheduler.jobEnded(host: "dead", batch: one, .noConnection, nowMs: 0) }
    scheduler.jobIsReady(6, host: "dead", batch: one, isUrgent: false)
    scheduler.jobIsReady(7, host: "live", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [7])
    #expect(scheduler.nextOpeningMs(nowMs: 0) == 15_000)
    #expect(!scheduler.isHopeless(afterOpens: 1), "one host answers")
  }

  @Test func takingAFilesRequestsLeavesTheOthersInOrder() {
    var scheduler = Scheduler(workers: 9)
    for job in 1...6 { scheduler.jobIsReady(UInt64(job), host: "a", batch: one, isUrgent: job == 3) }
    #expect(scheduler.takeReady { $0 % 3 == 0 } == [3, 6])
    #expect(takeAll(&scheduler) == [1, 2, 4, 5])
    #expect(scheduler.readyCount == 0)
  }

  @Test func aBatchWithItsShareIsPassedOverUntilOneOfItsRequestsEnds() {
    var scheduler = Scheduler(workers: 9)
    scheduler.setLimit(2, of: one, sending: 0)
    for job in 1...4 { scheduler.jobIsReady(UInt64(job), host: "a", batch: one, isUrgent: job == 4) }
    for job in 5...7 { scheduler.jobIsReady(UInt64(job), host: "a", batch: two, isUrgent: false) }
    #expect(takeAll(&scheduler) == [4, 1, 5, 6, 7])
    #expect(scheduler.readyCount == 2)
    scheduler.jobEnded(host: "a", batch: two, .success, nowMs: 0)
    #expect(takeAll(&scheduler) == [])
    scheduler.jobEnded(host: "a", batch: one, .success, nowMs: 0)
    #expect(takeAll(&scheduler) == [2])
    scheduler.setLimit(nil, of: one, sending: 2)
    #expect(takeAll(&scheduler) == [3])
  }

  @Test func aShareCountsWhatRunsAlreadyAndAllHostsTogether() {
    var scheduler = Scheduler(workers: 9)
    scheduler.jobIsReady(1, host: "a", batch: one, isUrgent: false)
    #expect(takeAll(&scheduler) == [1])
    scheduler.setLimit(2, of: one, sending: 1)
    for job in 2...4 { scheduler.jobIsReady(UInt64(job), host: job == 2 ? "a" : "b", batch: one, isUrgent: false) }
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

  private func takeAll(_ scheduler: inout Scheduler) -> [Scheduler.JobID] {
    var all: [Scheduler.JobID] = []
    while let job = scheduler.takeNext(nowMs: 0) { all.append(job) }
    return all
  }
}
