import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine

/// Active files with chunks in backoff.
@Suite struct FilesInBackoffTests {
  private let run: RunFixture
  private let destination: BatchDestination
  private let now: Int64 = 1_000_000

  init() throws {
    run = try RunFixture()
    destination = try run.loop.batches.destination(of: try run.add("a"))
  }

  /// A file of three chunks, of which one is stored; `waiting` are the times when others may be sent again.
  private func file(_ id: Int64, waiting: [Int64]) -> FileWork {
    var claimed = ClaimedFile(
      id: FileID(rawValue: id), uid: UID(high: 1, low: UInt64(id)), batch: destination.batch, generation: 1,
      path: NameBytes("/p"), key: NameBytes("k"),
      identity: SourceIdentity(size: 30, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1), failures: 0,
      layout: ChunkLayout(size: 30, chunkSize: 10), session: nil, doneChunks: 1, doneBytes: 10, lostAnswer: nil)
    claimed.waitingUntil = waiting
    return FileWork(claimed, to: destination, run.engine, isLossy: false)
  }

  @Test func aChunkThatIsDueIsNotWaitedFor() {
    var files = FilesInBackoff()
    #expect(files.waitMs(nowMs: now) == nil)
    files.note(file(1, waiting: [now + 1_000, now + 5_000]))
    files.note(file(2, waiting: [now + 3_000]))
    #expect(files.ids.sorted() == [FileID(rawValue: 1), FileID(rawValue: 2)] && files.chunkCount == 3)
    #expect(files.waitMs(nowMs: now) == 1_000 && files.due(nowMs: now).isEmpty)
    #expect(files.waitMs(nowMs: now + 1_000) == 2_000)
    #expect(files.due(nowMs: now + 1_000) == [FileID(rawValue: 1)])
    #expect(files.waitMs(nowMs: now + 5_000) == nil)
  }

  /// Such a file only holds capacity.
  @Test func onlyAFileWithNothingElseToSendWaitsInTheLedger() {
    var files = FilesInBackoff()
    files.note(file(1, waiting: [now + 3_000, now + 5_000]))
    files.note(file(2, waiting: [now + 3_000]))
    #expect(files.idle(nowMs: now).map(\.file) == [FileID(rawValue: 1)], "file 2 has a chunk that was never sent")
    #expect(files.idle(nowMs: now).map(\.dueMs) == [now + 3_000])
    #expect(files.idle(nowMs: now + 1_000).isEmpty, "it is due soon")
  }

  @Test func whatWaitsForNothingIsForgotten() {
    var files = FilesInBackoff()
    files.note(file(1, waiting: [now]))
    files.note(file(1, waiting: []))
    #expect(files.ids.isEmpty)
    let released = file(2, waiting: [now])
    files.note(released)
    released.machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
    _ = released.machine.advance(destination.resolved.transferProtocol, chunkLimit: 0, nowMs: now)
    files.note(released)
    #expect(released.machine.isReleased && files.ids.isEmpty)
    files.note(file(3, waiting: [now]))
    files.remove(FileID(rawValue: 3))
    #expect(files.ids.isEmpty && files.chunkCount == 0)
  }
}
