import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Copies a file with a known digest from a local file that had this digest according to the ledger. A value, so that
/// it can be passed between threads; blocking.
struct Twins: Sendable {
  /// The expected digest of the file; nobody can create another file with it.
  var digest: Digest
  /// In bytes, if known.
  var size: Int64?
  /// The digest algorithm for each chunk.
  var algorithm: DigestAlgorithm
  /// Absolute paths of local files that had the digest once.
  var find: @Sendable () -> [NameBytes]
  var stop = ReadStop.never

  struct Found: Sendable {
    var size: Int64
    var digest: Digest
    /// The partial file with the copy, or the file with the final name.
    var partial: SourceIdentity
  }

  /// The file that already has the final name, if it has the digest; it stays as it is. If a value is returned, the
  /// file is on the disk, and was read from there.
  /// - Throws: `engine.interrupted`.
  func standing(at target: Target) throws(Failure) -> Found? {
    guard !target.isNamedLater, let file = target.standing(), file.identity.size == size ?? file.identity.size else {
      return nil
    }
    let digests: [DigestAlgorithm: Digest]
    do throws(Failure) {
      try file.sync()
      file.dropCache()
      let whole = ByteRange(offset: 0, length: file.identity.size)
      digests = try file.digests(of: whole, [digest.algorithm, algorithm], stop)
    } catch {
      if error.code == .engineInterrupted { throw error }
      return nil
    }
    guard digests[digest.algorithm] == digest, let ofChunk = digests[algorithm], file.identityNow == file.identity
    else {
      return nil
    }
    target.keeps(file.identity)
    return Found(size: file.identity.size, digest: ofChunk, partial: file.identity)
  }

  /// Copies a local file into the partial file. If a value is returned, the copy is on the disk, and its digest was
  /// read back from there. The ledger's record of the other file proves nothing, because it may have been modified
  /// since.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`.
  func copied(into target: Target) throws(Failure) -> Found? {
    for path in find() {
      if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while searching for a local file") }
      guard let source = try? SourceFile(path: path), source.identity.size == size ?? source.identity.size,
        let partial = try target.file(size: nil, holdsBytes: false)
      else { continue }
      if let found = try copy(source, to: partial) { return found }
      try partial.empty()
    }
    return nil
  }

  private func copy(_ source: SourceFile, to partial: TargetFile) throws(Failure) -> Found? {
    let whole = ByteRange(offset: 0, length: source.identity.size)
    try partial.reserve(whole.length)
    guard csys_copy_range(source.descriptor, partial.descriptor, 0, whole.length) == 0 else {
      if errno == EIO { return nil }
      throw TargetFile.failure("copy \(whole.length) bytes of a local file", errno)
    }
    let digests: [DigestAlgorithm: Digest]
    do throws(Failure) {
      digests = try partial.digests(of: whole, [digest.algorithm, algorithm], stop)
    } catch {
      if error.code == .engineInterrupted { throw error }
      return nil
    }
    guard digests[digest.algorithm] == digest, let ofChunk = digests[algorithm] else { return nil }
    try partial.sync()
    return Found(size: whole.length, digest: ofChunk, partial: partial.identity)
  }
}
