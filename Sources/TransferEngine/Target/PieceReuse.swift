import TransferModel
import TransferProtocols

/// Reuses pieces of the version to be fetched that the file with the final name of the download has at the same place,
/// as far as their published digests match. A value, so that it can be passed between threads; blocking.
struct PieceReuse: Sendable {
  var target: Target
  var pieces: PieceDigests
  /// Of the file to be fetched, in bytes.
  var size: Int64
  /// Something is stored in the partial file.
  var holdsBytes: Bool
  /// The chunks that are not completely stored.
  var chunks: [IncompleteChunk]
  /// The digest algorithm for each chunk.
  var algorithm: DigestAlgorithm
  var stop = ReadStop.never

  /// The pieces that were found, durable on return. Those that cannot be read are fetched.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`; ``Placing/partialIsGone``.
  func perform() throws(Failure) -> Reused {
    var reused = Reused()
    reused.notes = PieceNotes.compared
    guard let file = target.standing() else { return reused }
    defer { file.dropCache() }
    let found = try found(in: file)
    guard !found.isEmpty else { return reused }
    guard let partial = try target.file(size: size, holdsBytes: holdsBytes) else { throw Placing.partialIsGone }
    for (chunk, right) in found { try take(right, of: chunk, from: file, to: partial, &reused) }
    try reused.keep(in: partial, notes: PieceNotes.copied)
    return reused
  }

  private func found(in file: TargetFile) throws(Failure) -> [(chunk: IncompleteChunk, right: [Int])] {
    var found: [(chunk: IncompleteChunk, right: [Int])] = []
    for chunk in chunks where isDivided(chunk) {
      let missing = pieces.pieces(within: chunk.range, of: size).filter {
        pieces.range($0, of: size).end > chunk.rest.offset
      }
      let right = try right(missing, in: file)
      if !right.isEmpty { found.append((chunk, right)) }
    }
    return found
  }

  /// It begins and ends where pieces do.
  private func isDivided(_ chunk: IncompleteChunk) -> Bool {
    let (start, end) = (chunk.range.offset, chunk.range.end)
    return start % pieces.length == 0 && (end % pieces.length == 0 || end == size)
  }

  /// Those of the pieces that the file has.
  private func right(_ candidates: [Int], in file: TargetFile) throws(Failure) -> [Int] {
    let length = file.identityNow?.size ?? 0
    var right: [Int] = []
    for piece in candidates {
      let range = pieces.range(piece, of: size)
      guard range.end <= length else { break }
      do throws(Failure) {
        let found = try file.digests(of: range, [pieces.algorithm], stop)[pieces.algorithm]
        if found == pieces[piece] { right.append(piece) }
      } catch {
        if error.code == .engineInterrupted { throw error }
      }
    }
    return right
  }

  /// A piece counts if its digest matches in the partial file, regardless of changes to the other file meanwhile.
  private func take(
    _ right: [Int], of chunk: IncompleteChunk, from file: TargetFile, to partial: TargetFile, _ reused: inout Reused
  ) throws(Failure) {
    for run in runs(of: right) { _ = try partial.copy(run, from: file, at: run.offset, stop) }
    let copied = try self.right(right, in: partial).map { pieces.range($0, of: size) }
    try reused.count(copied, of: chunk, in: partial, algorithm, notes: { $0.notes(in: pieces) }, stop)
  }

  /// The ranges of consecutive pieces.
  private func runs(of right: [Int]) -> [ByteRange] {
    right.reduce(into: []) { runs, piece in
      let range = pieces.range(piece, of: size)
      if let last = runs.last, last.end == range.offset {
        runs[runs.count - 1] = ByteRange(offset: last.offset, length: range.end - last.offset)
      } else {
        runs.append(range)
      }
    }
  }
}
