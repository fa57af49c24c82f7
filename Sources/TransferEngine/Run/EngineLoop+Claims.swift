import TransferLedger
import TransferModel
import TransferProtocols

/// Letting files go.
extension EngineLoop {
  /// Nothing can be sent for this batch in this run: no credentials, or settings that cannot work. Its files wait for
  /// the next run; the others go on, and the run ends with the error.
  func block(_ batch: BatchID, _ error: TransferError) {
    guard batches.block(batch, error) else { return }
    let files = files.all.filter { $0.value.machine.claimed.batch == batch }.keys
    for file in files { letGo(file, notBeforeMs: nil) }
  }

  /// The file leaves the engine without prejudice as soon as nothing of it is under way.
  func letGo(_ file: FileID, notBeforeMs: Int64?, _ code: ErrorCode? = nil) {
    guard let work = files[file] else { return }
    work.machine.end(.requeue(notBeforeMs: notBeforeMs, code, isFailure: false))
    _ = hosts.takeReady(where: work.jobs.contains)
    for id in work.jobs where jobs[id]?.phase == .ready { interrupt(id, nil) }
    files.advance(file)
  }
}
