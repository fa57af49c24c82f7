public import TransferModel
public import TransferProtocols

/// Makes manifest entries from local files: their paths below the base of the sources, their sizes, and digests of
/// their content.
public struct ManifestScan {
  private let digests: Set<DigestAlgorithm>
  private let leavesOut: FileNumbers
  private let notice: @Sendable (Notice) -> Void

  /// How often a file is read again if it changes meanwhile.
  private static let patience = 3

  /// - Parameters:
  ///   - digests: the digests to compute for each file; if empty, no content is read.
  ///   - leavesOut: files that this command writes, which are not scanned.
  public init(
    digests: Set<DigestAlgorithm>, leavesOut: FileNumbers, notice: @escaping @Sendable (Notice) -> Void
  ) {
    (self.digests, self.leavesOut, self.notice) = (digests, leavesOut, notice)
  }

  /// Passes each regular file with its mtime, in nanoseconds since 1970 UTC, in scan order. Blocking; needs as much
  /// memory as a scan.
  /// - Parameter body: throws `.badList` for a file that the manifest cannot represent: it counts as failed.
  /// - Throws: errors thrown by `body`; `.noSource` and `.badList` as for a scan.
  public func read(
    _ sources: ResolvedSources, _ body: @escaping (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) -> SourceCounts {
    let counts = Lock(SourceCounts())
    try sources.scan { finding throws(TransferError) in
      switch finding {
      case .file(let path, _, _, let identity, mode: _, _) where leavesOut.contains(identity):
        notice(.skipped(path: NameBytes(Array(path)), reason: "it is the output of this command"))
        counts.withLock { $0.special += 1 }
      case .file(let path, let root, let relative, let identity, mode: _, _):
        let (path, relative) = (NameBytes(Array(path)), NameBytes(Array(relative)))
        guard try take(path, root, relative, identity, body) else { return counts.withLock { $0.failed += 1 } }
        counts.withLock { counts in
          counts.added += 1
          counts.bytes +|= identity.size
        }
      case .excluded(let path, let rule):
        notice(.excluded(path: path, rule: rule))
        counts.withLock { $0.excluded += 1 }
      case .special(let path, let kind):
        notice(.skipped(path: path, reason: kind))
        counts.withLock { $0.special += 1 }
      case .unreadable(let path, relative: _, let failure):
        notice(.failed(path: path, failure))
        counts.withLock { $0.failed += 1 }
      case .remark(let text): notice(.remark(text))
      }
    }
    return counts.withLock { $0 }
  }

  /// False if it failed, which was reported.
  private func take(
    _ path: NameBytes, _ root: Int, _ relative: NameBytes, _ identity: SourceIdentity,
    _ body: (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) -> Bool {
    var (size, mtimeNs, found): (Int64, Int64, [Digest]) = (identity.size, identity.mtimeNs, [])
    if !digests.isEmpty {
      do throws(Failure) { (size, mtimeNs, found) = try content(path, root) } catch {
        notice(.failed(path: path, error))
        return false
      }
    }
    do throws(TransferError) {
      try body(
        ManifestEntry(
          location: .relative(relative), path: relative, size: size, digests: found, mtimeNs: mtimeNs, line: 0))
      return true
    } catch {
      guard error.kind == .badList else { throw error }
      notice(.failed(path: path, Failure(.sourceKind, error.cause)))
      return false
    }
  }

  /// Size, mtime and digests of one version of the file.
  private func content(_ path: NameBytes, _ root: Int) throws(Failure) -> (Int64, Int64, [Digest]) {
    for _ in 0..<Self.patience {
      let file = try SourceFile(path: path, root: root)
      let whole = ByteRange(offset: 0, length: file.identity.size)
      let found = try file.digests(of: whole, digests, .never)
      let more = try file.hasMore(than: file.identity.size)
      guard file.identity.relation(to: try file.currentIdentity()) == .same else { continue }
      if more { throw .ofUntrueSize(file.identity.size) }
      let sorted = found.values.sorted { ManifestDigest.isStronger($0.algorithm, $1.algorithm) }
      return (file.identity.size, file.identity.mtimeNs, sorted)
    }
    throw Failure(.sourceChanged, "it keeps changing while it is read")
  }
}
