import TransferLedger
import TransferModel

/// Finds out whether another file has delivered the content of a source. A value, so that it crosses threads; blocking.
struct DeliveredContent: Sendable {
  /// Those that have delivered content with this SHA-256 to the same place.
  var find: @Sendable (Digest) throws(TransferError) -> [DeliveredFile]
  /// What was sent of one of them.
  var content: @Sendable (FileID) throws(TransferError) -> SentContent

  /// The first of them of which every byte that was sent is a byte of `file`. The digest alone was made when that file
  /// was read, and not of what the server acknowledged.
  /// - Throws: `engine.interrupted`, `source.io`.
  func original(of file: SourceFile, _ digest: Digest, _ stop: ReadStop) throws(Failure) -> DeliveredFile? {
    // Without an answer of the ledger the file is sent.
    guard let found = try? find(digest) else { return nil }
    for other in found {
      guard let sent = try? content(other.id), sent.isCovered else { continue }
      if try ContentCheck.holds(file, sent, stop) { return other }
    }
    return nil
  }
}
