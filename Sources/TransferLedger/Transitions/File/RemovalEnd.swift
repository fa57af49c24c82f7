public import TransferModel

/// The result of removing one source.
public enum RemovalEnd: Sendable, Hashable {
  case done
  /// The source no longer existed. An attempt that crashed may have removed it, or somebody else.
  case gone(String)
  /// Nothing was changed, and nothing could be tried: the run was stopped, another file needs the source by now, or its
  /// file system is not available. It is tried again later, without a limit.
  case putOff(ErrorCode, String)
  /// The same for an error that passes by itself, and of which the folder of the source shows nothing. A run with
  /// nothing else to do tries it again at intervals that double, up to an hour.
  case delayed(ErrorCode, String)
  /// The source is kept permanently.
  case kept(ErrorCode, String)
  /// To be tried again by a later run, ``LedgerTransaction/removalsAtMost`` times.
  case failed(ErrorCode, String)
}

extension RemovalEnd {
  /// The source no longer exists at its path.
  public var isOver: Bool {
    switch self {
    case .done, .gone: true
    case .putOff, .delayed, .kept, .failed: false
    }
  }
}
