public import TransferLedger
public import TransferModel

/// What `add` would record of a growing source.
public struct GrowingPlan: Sendable, Hashable {
  /// The key of the segment, which has the time of the plan for a new series; that of the whole file if there is no
  /// segment to send.
  public var key: NameBytes
  /// The length of the segment; of the whole file if there is none.
  public var size: Int64
  public var standing: SyncStatus

  /// Reads the file if only its content shows whether it was appended to. Blocking.
  public init(_ source: SourceCandidate, _ known: KnownGrowth, nowMs: Int64) throws(Failure) {
    (key, size, standing) = (source.key, source.identity.size, .unchanged)
    guard GrowingFile.unchanged(source.identity, known) == nil else { return }
    let file = try SourceFile(path: source.path, root: source.root)
    let growth = try GrowingFile(file, at: source.path, key: source.key, known).growth()
    size = file.identity.size
    guard let start = growth.start, let segment = growth.key(of: source.key, nowMs: nowMs) else { return }
    (key, size) = (segment, size - start)
    if case .begun(_, .first) = growth { standing = .new } else { standing = .changed }
  }
}
