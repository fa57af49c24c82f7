/// What is done with the sources of a batch once their files are done and have their receipts.
public struct SourceRemoval: Sendable, Hashable, Codable {
  public enum Action: String, Sendable, CaseIterable, Codable { case delete, move }

  /// What a receipt has to prove before its source is touched. The weakest first.
  public enum Proof: String, Sendable, CaseIterable, Codable {
    /// The server answered with success, and nothing more.
    case any
    /// The server said how many bytes it has.
    case size
    /// The server gave a digest of what it has, or an ETag that is one.
    case digest

    public func accepts(_ confirmation: Confirmation) -> Bool {
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
  /// Where sources are moved to, absolute; nil when they are deleted.
  public var folder: String?

  public init(_ action: Action, proof: Proof = .size, base: String, folder: String? = nil) {
    self.action = action
    self.proof = proof
    self.base = base
    self.folder = folder
  }
}

/// Where the removal of one source is. It begins in the transaction that makes its file done.
public enum RemovalState: String, Sendable, CaseIterable, Codable {
  /// To be done, or to be tried again.
  case pending
  /// The source is deleted or moved.
  case done
  /// The source was kept; `cause` says why.
  case skipped
  /// It was tried often enough.
  case failed
}
