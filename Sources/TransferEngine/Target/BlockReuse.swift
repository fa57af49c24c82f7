import TransferModel
import TransferProtocols

/// Copies blocks of the version to be fetched from the file that has the final name of the download, as far as
/// published checksums recognise them. They are weak: the digest of the complete file decides. A value, so that it can
/// be passed between threads; blocking.
struct BlockReuse: Sendable {
  var target: Target
  var blocks: PublishedBlocks
  /// The chunks that are not completely stored.
  var chunks: [IncompleteChunk]
  /// The digest algorithm for each chunk.
  var algorithm: DigestAlgorithm
  var stop = ReadStop.never

  /// The data that was found, durable on return.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`; ``Placing/partialIsGone``.
  func perform() throws(Failure) -> Reused {
    var reused = Reused()
    reused.notes = BlockNotes.nothing
    guard !chunks.isEmpty else { return reused }
    guard let file = target.standing() else {
      reused.remark = Self.remark("the existing file was removed in the meantime", hasData: false)
      return reused
    }
    let (parts, gap) = try found(in: file)
    reused.remark = gap.map { Self.remark($0, hasData: false) } ?? Self.nothing
    guard !parts.isEmpty else { return reused }
    // The first answer has stored the beginning of the file.
    guard let partial = try target.file(size: blocks.size, holdsBytes: true) else { throw Placing.partialIsGone }
    for chunk in chunks { try take(parts, for: chunk, from: file, to: partial, &reused) }
    if reused.hasData { reused.remark = gap.map { Self.remark($0, hasData: true) } }
    try reused.keep(in: partial, notes: BlockNotes.copied(blocks))
    return reused
  }

  private static let nothing = "the existing file has no block of it, and all of it is fetched"

  private static func remark(_ cause: String, hasData: Bool) -> String {
    hasData ? "\(cause): what was not found before is fetched" : "\(cause), and all of it is fetched"
  }

  /// The parts that were found, in the order of the file to be fetched, and why not all of the existing file was
  /// searched; nil if it was. What was found before an error counts.
  private func found(in file: TargetFile) throws(Failure) -> ([FoundPart], gap: String?) {
    defer { file.dropCache() }
    var gap: String?
    var matcher = BlockMatcher(blocks, in: file.identityNow?.size ?? 0) { buffer, offset throws(Failure) -> Int in
      try file.read(into: buffer, at: offset)
    }
    do throws(Failure) {
      _ = try matcher.parts { !stop.isAsked() }
    } catch {
      gap = "the existing file cannot be read (\(error.message))"
    }
    if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while a local file was compared") }
    if matcher.isGivenUp { gap = "the search in the existing file was given up, because too much of it seems to match" }
    var parts = matcher.found
    parts.sort { $0.range.offset < $1.range.offset }
    return (parts, gap)
  }

  private func take(
    _ parts: [FoundPart], for chunk: IncompleteChunk, from file: TargetFile, to partial: TargetFile,
    _ reused: inout Reused
  ) throws(Failure) {
    let usable = parts[first(parts, behind: chunk.rest.offset)...].prefix { $0.range.offset < chunk.rest.end }
    var copied: [ByteRange] = []
    for part in usable {
      let part = part.clipped(to: chunk.rest)
      if try partial.copy(part.range, from: file, at: part.offset, stop) { copied.append(part.range) }
    }
    try reused.count(copied, of: chunk, in: partial, algorithm, notes: \.notes, stop)
  }

  /// The index of the first part that ends behind `offset`.
  private func first(_ parts: [FoundPart], behind offset: Int64) -> Int {
    var (low, high) = (0, parts.count)
    while low < high {
      let middle = (low + high) / 2
      if parts[middle].range.end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension FoundPart {
  fileprivate func clipped(to limit: ByteRange) -> FoundPart {
    let (from, to) = (max(range.offset, limit.offset), min(range.end, limit.end))
    return FoundPart(range: ByteRange(offset: from, length: to - from), offset: offset + from - range.offset)
  }
}
