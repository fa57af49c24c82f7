import TransferLedger
import TransferModel

/// Claims files from the ledger: owner of the ``ClaimPacing``. Used by the engine's thread.
final class Claims {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private var pacing = ClaimPacing()

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>) { (self.engine, self.mailbox) = (engine, mailbox) }

  var isClaiming: Bool { pacing.isClaiming }
  /// The earliest useful time of the next claim, in wall milliseconds.
  var nextMs: Int64 { pacing.nextMs }

  /// Files may be ready to be claimed now.
  func wake() { pacing.wake(atMs: engine.wallMs) }

  /// Files may be ready to be claimed from `ms` on.
  func wake(atMs ms: Int64) { pacing.wake(atMs: ms) }

  /// `full` are the hosts that have used their share.
  func isDue(full: Set<String>) -> Bool { pacing.isDue(nowMs: engine.wallMs, full: full) }

  /// Claims up to `limit` files, except those of the batches in `without` and of the sizes in `leftOut`, and in
  /// addition `fetched` files, up to a total of `most`. `passed` are the last files claimed of batches with such sizes.
  func begin(
    limit: Int, without: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>], passed: [BatchID: FileID],
    full: Set<String>, fetched: FetchedFiles, most: Int
  ) {
    pacing.began(full: full)
    let (run, mailbox) = (engine.run, mailbox)
    engine.ledger.write(
      { tx in
        try tx.claimFiles(
          run, limit: limit, without: without, leftOut: leftOut, passed: passed, fetched: fetched, most: most)
      },
      then: { mailbox.put(.claimed($0)) })
  }

  /// The claim has returned.
  func ended(_ result: Result<[ClaimedFile], TransferError>) throws(TransferError) -> [ClaimedFile] {
    switch result {
    case .failure(let error):
      pacing.failed()
      throw error
    case .success(let files):
      pacing.ended(found: files.count, nowMs: engine.wallMs)
      return files
    }
  }
}
