import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension TransferStore {
  /// Records the files named by `options` to be fetched; does not use the network. If a list has an error, none of it
  /// is recorded. Durable on return; adding a file again while it waits records nothing.
  /// - Throws: `.usage`, `.badList`, `.noSource` and `.config` before anything is recorded; errors of the store.
  package func add(
    _ options: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) throws(TransferError) -> AddResult {
    let target = DownloadTarget(options)
    try target.folder.make()
    let spool = try target.spool(ignoresCase: { target.folder.ignoresCase }, notice: notice)
    let batches = try target.batches(spool.origins)
    let clock = machine.clock
    let ledger = try open(.create, clock: clock)
    defer { ledger.close() }
    let mark = try ledger.read { reader in try reader.addedMark() }
    let admitter = DownloadAdmitter(spool, to: target.folder, batches)
    let done = try admitter.admit(into: ledger, since: mark, wallMs: clock.wallMs)
    let added = AddedFiles(since: mark, batch: done.batch, files: done.files)
    return AddResult(batch: done.batch, counts: done.counts, files: added)
  }
}
