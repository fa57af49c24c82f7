import CSys
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What all ways to reuse data of a local file do with it: it is copied into the partial file, counted by chunk, and
/// durable before it is recorded.
extension TargetFile {
  /// Copies a range, which begins at `offset` in the other file. False if that cannot be read. Blocking.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`.
  func copy(_ range: ByteRange, from file: TargetFile, at offset: Int64, _ stop: ReadStop) throws(Failure) -> Bool {
    if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while a local file was copied") }
    guard csys_copy_part(file.descriptor, offset, descriptor, range.offset, range.length) != 0 else { return true }
    if errno == EIO { return false }
    throw Self.failure("copy \(range.length) bytes of the local file", errno)
  }
}

extension Reused {
  /// Counts these ranges of the chunk, which are in the partial file. `notes` is the stored form of what is missing of
  /// it. Blocking: a complete chunk is read for its digest.
  mutating func count(
    _ copied: [ByteRange], of chunk: IncompleteChunk, in partial: TargetFile, _ algorithm: DigestAlgorithm,
    notes: (MissingRanges) -> [String: String], _ stop: ReadStop
  ) throws(Failure) {
    let left = MissingRanges(of: chunk, without: copied)
    if left.isAll { return }
    guard left.isEmpty else { return missing.append((chunk.seq, notes(left))) }
    let digest = try partial.digests(of: chunk.range, [algorithm], stop)[algorithm]
    var receipt = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: digest, confirmation: .size)
    receipt.reused = chunk.rest.length
    parts.append(receipt)
  }

  /// Makes what was counted durable. `notes` is for the session, if anything was. Blocking.
  mutating func keep(in partial: TargetFile, notes: [String: String]) throws(Failure) {
    guard hasData else { return }
    try partial.sync()
    (self.partial, self.notes) = (partial.identity, notes)
  }
}
