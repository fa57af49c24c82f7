public import TransferModel

/// Gives URLs for files whose own cannot be asked: signed ones, which are only used and never kept.
public protocol URLSource: Sendable {
  /// A URL for the file with this key, asked for anew. Blocking.
  /// - Throws: `auth.needs_url` when there is none; `engine.interrupted` when `isOver` says that nobody waits any more.
  func url(for key: NameBytes, isOver: @Sendable () -> Bool) throws(Failure) -> String
}
