import CSys
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

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
    guard !chunks.isEmpty, let file = target.standing() else { return reused }
    let parts = try found(in: file).sorted { $0.range.offset < $1.range.offset }
    guard !parts.isEmpty else { return reused }
    // The first answer has stored the beginning of the file.
    guard let partial = try target.file(size: blocks.size, holdsBytes: true) else { throw Placing.partialIsGone }
    for chunk in chunks { try take(parts, for: chunk, from: file, to: partial, &reused) }
    guard reused.hasData else { return reused }
    try partial.sync()
    (reused.partial, reused.notes) = (partial.identity, BlockNotes.copied(blocks))
    return reused
  }

  /// A file that cannot be read has nothing to reuse.
  private func found(in file: TargetFile) throws(Failure) -> [FoundPart] {
    defer { file.dropCache() }
    var matcher = BlockMatcher(blocks, in: file.identityNow?.size ?? 0) { buffer, offset throws(Failure) -> Int in
      try file.read(into: buffer, at: offset)
    }
    var parts: [FoundPart] = []
    do throws(Failure) { parts = try matcher.parts { !stop.isAsked() } } catch {}
    if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while a local file was compared") }
    return parts
  }

  private func take(
    _ parts: [FoundPart], for chunk: IncompleteChunk, from file: TargetFile, to partial: TargetFile,
    _ reused: inout Reused
  ) throws(Failure) {
    let usable = parts[first(parts, behind: chunk.rest.offset)...].prefix { $0.range.offset < chunk.rest.end }
    var copied: [ByteRange] = []
    for part in usable {
      let part = part.clipped(to: chunk.rest)
      if try copy(part, from: file, to: partial) { copied.append(part.range) }
    }
    let missing = MissingRanges(of: chunk, without: copied)
    if missing.isAll { return }
    guard missing.isEmpty else { return reused.missing.append((chunk.seq, missing)) }
    let digest = try partial.digests(of: chunk.range, [algorithm], stop)[algorithm]
    var receipt = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: digest, confirmation: .size)
    receipt.reused = chunk.rest.length
    reused.parts.append(receipt)
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

  /// False if it cannot be read.
  private func copy(_ part: FoundPart, from file: TargetFile, to partial: TargetFile) throws(Failure) -> Bool {
    if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while a local file was copied") }
    let (from, to, length) = (part.offset, part.range.offset, part.range.length)
    guard csys_copy_part(file.descriptor, from, partial.descriptor, to, length) != 0 else { return true }
    if errno == EIO { return false }
    throw TargetFile.failure("copy \(length) bytes of the local file", errno)
  }
}

extension FoundPart {
  fileprivate func clipped(to limit: ByteRange) -> FoundPart {
    let (from, to) = (max(range.offset, limit.offset), min(range.end, limit.end))
    return FoundPart(range: ByteRange(offset: from, length: to - from), offset: offset + from - range.offset)
  }
}
