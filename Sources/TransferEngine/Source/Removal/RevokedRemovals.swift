package import TransferLedger
package import TransferModel

/// Sources whose removal was revoked after a run had begun it that was killed: the disk shows whether they are still
/// there. No engine may be running. Blocking.
package struct RevokedRemovals {
  private let ledger: Ledger
  private let removals: SourceRemovals

  package init(_ ledger: Ledger) {
    self.ledger = ledger
    removals = SourceRemovals(ledger: ledger, notice: { _ in }, stop: .never)
  }

  /// Records those as removed that are gone. What cannot be examined stays as it is: it may have been removed.
  package func look(at files: [FileID]) throws(TransferError) {
    for file in files {
      guard let due = try ledger.read({ reader in try reader.revokedRemoval(of: file) }),
        let remover = try removals.remover(of: due.batch), let end = try remover.end(ofRevoked: due)
      else { continue }
      try ledger.write { tx in
        try tx.endRemovals([(file, end)], verb: LedgerTransaction.deletionVerb, uncertain: [file])
      }
    }
  }
}

extension SourceRemover {
  /// nil if the source is there, or if that cannot be determined; what was to be moved is not lost.
  fileprivate func end(ofRevoked due: DueRemoval) throws(TransferError) -> RemovalEnd? {
    guard removal.action == .delete, let relative = places.relative(due.path, root: due.root), places.isThere,
      places.isGone(relative)
    else { return nil }
    let end = try gone(due, relative)
    return end.isOver ? end : nil
  }
}
