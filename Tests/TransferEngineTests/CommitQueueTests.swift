import Testing
import TransferModel

@testable import TransferEngine

@Suite struct CommitQueueTests {
  private func unit(_ file: Int64) -> FileUnit { FileUnit(file: FileID(rawValue: file), session: nil) }

  @Test func theOldestUnitSetsTheTime() {
    var queue = CommitQueue()
    #expect(queue.isEmpty && queue.dueMs == nil)
    queue.append(unit(1), nowMs: 100)
    queue.append(unit(2), nowMs: 107)
    #expect(queue.dueMs == 108 && !queue.isDue(nowMs: 107) && queue.isDue(nowMs: 108))
    #expect(queue.takeAll().map(\.file.rawValue) == [1, 2])
    #expect(queue.isEmpty && queue.dueMs == nil)
    queue.append(unit(3), nowMs: 200)
    #expect(queue.dueMs == 208)
  }

  @Test func aFullBatchWaitsForNobody() {
    var queue = CommitQueue()
    for file in 1..<128 { queue.append(unit(Int64(file)), nowMs: 0) }
    #expect(!queue.isDue(nowMs: 0))
    queue.append(unit(128), nowMs: 0)
    #expect(queue.isDue(nowMs: 0))
  }

  @Test func itIsIdleWhenTheLedgerHasAnswered() {
    var queue = CommitQueue()
    queue.append(unit(1), nowMs: 0)
    #expect(!queue.isIdle)
    _ = queue.takeAll()
    queue.writeBegan()
    queue.writeBegan()
    queue.writeEnded()
    #expect(!queue.isIdle)
    queue.writeEnded()
    #expect(queue.isIdle)
  }
}
