import TransferModel

/// Digests of pieces: a chunk counts as stored only when each of its pieces matches the manifest. If pieces of a chunk
/// are wrong, only these are requested again; their numbers are stored with the chunk.
extension GetProtocol: PartialBodies {
  package func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    MissingPieces(chunk, facts)?.firstRun ?? MissingRanges(chunk)?.ranges.first ?? chunk.rest
  }

  package func pieces(in step: StepRequest, bytes: Int64, size: Int64?, _ facts: TransferFacts) -> [Int] {
    guard let pieces = facts.file.expected.pieces else { return [] }
    guard case .chunk(let chunk) = step else {
      guard let size, pieces.covers(size) else { return [] }
      return Array(pieces.pieces(within: ByteRange(offset: 0, length: bytes), of: size))
    }
    guard pieces.covers(facts.layout.size), bytes == chunk.body.length else { return [] }
    // Includes earlier bytes of the chunk, because a piece may come from two bodies.
    let range = MissingPieces(chunk, facts) == nil ? chunk.range : chunk.body
    return Array(pieces.pieces(within: range, of: facts.layout.size))
  }

  package func isReadAnew(_ step: StepRequest, _ facts: TransferFacts) -> Bool {
    guard let chunk = step.chunk else { return false }
    return MissingPieces(chunk, facts) != nil || MissingRanges(chunk)?.without(chunk.body).isEmpty == true
  }

  /// The meaning of the compared pieces for a chunk with a complete body; nil if all of the chunk is present and right.
  func judged(
    _ chunk: ChunkFacts, wrong: [Int], _ facts: TransferFacts
  ) -> Interpretation? {
    guard let pieces = facts.file.expected.pieces else { return nil }
    let size = facts.layout.size
    let known = MissingPieces(chunk, facts)
    let left = Set(known?.pieces ?? []).subtracting(pieces.pieces(within: chunk.body, of: size)).union(wrong)
    guard !left.isEmpty else { return nil }
    let notes = MissingPieces.notes(left, reused: known?.reused)
    guard let first = wrong.first else { return .pieceStored(notes) }
    let own = wrong.filter { chunk.body.offset <= pieces.range($0, of: size).offset }
    var meaning = Interpretation.failed(Self.wrongPiece(own.first ?? first, pieces, size), .retry(isThrottled: false))
    (meaning.chunkNotes, meaning.provesWrong) = (notes, !own.isEmpty)
    return meaning
  }

  static func wrongPiece(_ piece: Int, _ pieces: PieceDigests, _ size: Int64) -> Failure {
    let range = pieces.range(piece, of: size)
    return Failure(
      .integrityMismatch, "the bytes from \(range.offset) to \(range.end) are not those of piece \(piece + 1)")
  }

  /// Aligns the length of chunks, so that chunks of a file with pieces end at the end of a piece.
  static func aligned(_ length: Int64, to pieces: PieceDigests?, of size: Int64) -> Int64 {
    guard let pieces, pieces.covers(size) else { return length }
    return max(1, length / pieces.length) * pieces.length
  }
}

/// The missing pieces of a chunk: those of a received one that are wrong, or those that an existing file does not have.
/// All others are on the disk and right.
struct MissingPieces: Sendable, Hashable {
  private static let key = "pieces", reusedKey = "reused"

  /// In order, never empty.
  let pieces: [Int]
  /// The range of the first of them and those directly after it, within the chunk.
  let firstRun: ByteRange
  /// How many bytes of the chunk an existing file had; nil if none was compared.
  let reused: Int64?

  init?(_ chunk: ChunkFacts, _ facts: TransferFacts) {
    guard let digests = facts.file.expected.pieces, let text = chunk.remote[Self.key] else { return nil }
    pieces = text.split(separator: " ").compactMap { Int($0) }.filter { (0..<digests.count).contains($0) }.sorted()
    guard let first = pieces.first else { return nil }
    var last = first
    for piece in pieces.dropFirst() where piece == last + 1 { last = piece }
    let start = digests.range(first, of: facts.layout.size).offset
    let end = digests.range(last, of: facts.layout.size).end
    guard start >= chunk.range.offset, end <= chunk.range.end else { return nil }
    firstRun = ByteRange(offset: start, length: end - start)
    reused = chunk.remote[Self.reusedKey].flatMap { Int64($0) }
  }

  /// The stored form.
  static func notes(_ pieces: some Sequence<Int>, reused: Int64?) -> [String: String] {
    var notes = [key: pieces.sorted().map(String.init).joined(separator: " ")]
    notes[reusedKey] = reused.map { String($0) }
    return notes
  }
}
