import TransferLedger
import TransferModel

/// Checks whether another file has delivered the content of a source. A value, so that it can cross threads. Blocking.
struct DeliveredContent: Sendable {
  /// Files that have delivered content with this SHA-256 to the same place.
  var find: @Sendable (Digest) throws(TransferError) -> [DeliveredFile]
  /// What was sent of one of them.
  var content: @Sendable (FileID) throws(TransferError) -> SentContent

  /// The first of these files whose sent bytes all equal those of `file`. The digest alone is not enough: it was
  /// computed when that file was read, not from what the server acknowledged.
  /// - Throws: `engine.interrupted`, `source.io`.
  func original(of file: SourceFile, _ digest: Digest, _ stop: ReadStop) throws(Failure) -> DeliveredFile? {
    // If the ledger cannot be queried, the file is sent.
    guard let found = try? find(digest) else { return nil }
    for other in found {
      guard let sent = try? content(other.id), sent.isCovered else { continue }
      if try ContentCheck.holds(file, sent, stop) { return other }
    }
    return nil
  }
}
