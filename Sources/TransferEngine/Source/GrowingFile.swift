import TransferLedger
import TransferModel

/// A growing source, opened: how it continues what the ledger knows, and the copy of what was appended. Blocking.
struct GrowingFile {
  /// What was found, before anything is copied.
  enum Growth {
    case empty
    case unchanged(GrowingSeries)
    case grown(after: GrowingSeries)
    case begun(after: Int, GrowingSource.Beginning)

    /// Where the bytes that are not recorded yet begin; nil for none.
    var start: Int64? {
      switch self {
      case .empty, .unchanged: nil
      case .grown(let series): series.end
      case .begun: 0
      }
    }

    /// The key of the segment; nil if there is none, or if the widths of its numbers do not suffice.
    /// - Parameters:
    ///   - key: the one that the whole file would have.
    ///   - nowMs: when a new series would begin, in milliseconds since 1970 UTC.
    func key(of key: NameBytes, nowMs: Int64) -> NameBytes? {
      switch self {
      case .empty, .unchanged: nil
      case .grown(let series): GrowingSeries.key(series.key, number: series.number, start: series.end)
      case .begun(let number, _):
        GrowingSeries.key(key, number: GrowingSeries.number(after: number, nowMs: nowMs), start: 0)
      }
    }
  }

  let file: SourceFile
  private let path, key: NameBytes
  private let known: KnownGrowth

  /// - Parameter path: where the file was opened.
  init(_ file: SourceFile, at path: NameBytes, key: NameBytes, _ known: KnownGrowth) {
    (self.file, self.path, self.key, self.known) = (file, path, key, known)
  }

  /// The series that ends where a file with this identity ends, if that shows without reading the file.
  static func unchanged(_ identity: SourceIdentity, _ known: KnownGrowth) -> GrowingSeries? {
    known.candidates.first { $0.identity.relation(to: identity) == .same }
  }

  /// The file as it was when it was opened. What it must still hold of a series is read.
  func growth() throws(Failure) -> Growth {
    if let same = Self.unchanged(file.identity, known) { return .unchanged(same) }
    let (size, candidates) = (file.identity.size, candidates)
    for series in candidates where series.end <= size {
      guard try ContentCheck.holds(file, series.content, .never) else { continue }
      return series.end == size ? .unchanged(series) : .grown(after: series)
    }
    return size == 0 ? .empty : .begun(after: known.number, beginning(candidates))
  }

  /// Series of this file, and not of an earlier one with its inode.
  private var candidates: [GrowingSeries] {
    let bornNs = file.bornNs
    return known.candidates.filter { $0.mayBe(file.identity, bornNs: bornNs, at: path) }
  }

  private func beginning(_ candidates: [GrowingSeries]) -> GrowingSource.Beginning {
    guard let last = candidates.first(where: { $0.key == key }) else {
      return known.number == 0 ? .first : .replaced
    }
    return file.identity.size < last.end ? .truncated : .rewritten
  }

  /// Copies the bytes that are not recorded yet, up to the end that the file had when it was opened. nil if the file
  /// was truncated or rewritten meanwhile, so that the copy may hold bytes of two contents.
  /// - Throws: failures of the folder of copies, and `source.io`. The copy is removed then.
  func copy(_ growth: Growth, to copies: StagedCopies) throws(Failure) -> GrowingSource.Segment? {
    guard let start = growth.start else { return nil }
    let name = StagedCopies.newName()
    do throws(Failure) {
      if let segment = try copied(growth, from: start, to: copies, name) { return segment }
    } catch {
      copies.remove(name)
      // If the file became shorter, the copy ends too early: that is not an error of the disk.
      guard try file.currentIdentity().size >= file.identity.size else { return nil }
      throw error
    }
    copies.remove(name)
    return nil
  }

  private func copied(
    _ growth: Growth, from start: Int64, to copies: StagedCopies, _ name: String
  ) throws(Failure) -> GrowingSource.Segment? {
    let range = ByteRange(offset: start, length: file.identity.size - start)
    try copies.make(name, mtimeNs: file.identity.mtimeNs, from: file.descriptor, range)
    let copy = try SourceFile(path: copies.path(name))
    guard copy.identity.size == range.length else { return nil }
    let digest = try Self.sha256(of: copy, ByteRange(offset: 0, length: range.length))
    let head = ByteRange(offset: 0, length: min(file.identity.size, GrowingSeries.headLength))
    var segment = GrowingSource.Segment(start: start, digest: digest, head: digest, staged: name)
    switch growth {
    case .grown(let series) where series.end >= GrowingSeries.headLength: segment.head = series.head
    case .grown: segment.head = try Self.sha256(of: file, head)
    case .begun: segment.head = try Self.sha256(of: copy, head)
    case .empty, .unchanged: return nil
    }
    return try isIntact(growth, range, segment) ? segment : nil
  }

  /// Whether the file holds everything that is recorded, and the copy as it is. It is read again if it was written to
  /// since it was opened.
  private func isIntact(
    _ growth: Growth, _ range: ByteRange, _ segment: GrowingSource.Segment
  ) throws(Failure) -> Bool {
    guard try file.currentIdentity() != file.identity else { return true }
    var content = SentContent()
    if case .grown(let series) = growth { content = series.content }
    content.pieces.append(SentContent.Piece(range: range, digest: segment.digest))
    return try ContentCheck.holds(file, content, .never)
  }

  private static func sha256(of file: SourceFile, _ range: ByteRange) throws(Failure) -> Digest {
    guard let digest = try file.digests(of: range, [.sha256], .never)[.sha256] else {
      throw Failure(.engineBug, "no digest was computed")
    }
    return digest
  }
}
