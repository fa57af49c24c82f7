/// How the sources of a batch are removed when their files are done and have receipts.
public struct SourceRemoval: Sendable, Hashable, Codable {
  public enum Action: String, Sendable, CaseIterable, Codable { case delete, move }

  /// The minimum proof of a receipt before its source is removed; weakest first.
  public enum Proof: String, Sendable, CaseIterable, Codable {
    /// The server answered with success, and nothing more.
    case any
    /// The server confirmed the size.
    case size
    /// The server confirmed a digest, or an ETag that is a digest.
    case digest

    package func accepts(_ confirmation: Confirmation) -> Bool {
      switch confirmation {
      case .digest, .etag: true
      case .size: self != .digest
      case .none: self == .any
      }
    }
  }

  public var action: Action
  public var proof: Proof
  /// The folder that keys are relative to, absolute: below it a moved file keeps its path.
  public var base: String
  /// The absolute path of the folder to move sources to; nil if they are deleted.
  public var folder: String?

  public init(_ action: Action, proof: Proof = .size, base: String, folder: String? = nil) {
    self.action = action
    self.proof = proof
    self.base = base
    self.folder = folder
  }
}

/// The state of the removal of one source. It begins in the transaction that makes its file done.
package enum RemovalState: String, Sendable, CaseIterable, Codable {
  /// To be done, or to be retried.
  case pending
  /// The source is deleted or moved.
  case done
  /// The source was kept; `cause` says why.
  case skipped
  /// It was given up after several attempts.
  case failed
}
