public import TransferModel

/// Supplies URLs for files whose own URLs cannot be requested: signed URLs, which are used but never stored.
public protocol URLSource: Sendable {
  /// A newly obtained URL for the file with this key. Blocking.
  /// - Throws: `auth.needs_url` if there is none; `engine.interrupted` when `isOver` returns true.
  func url(for key: NameBytes, isOver: @Sendable () -> Bool) throws(Failure) -> String
}
