import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Takes a file that is to have a certain digest from a local file that had it, as the ledger says. A value, so that it
/// crosses threads; blocking.
struct Twins: Sendable {
  /// That the file is to have; nobody can make another one that has it.
  var digest: Digest
  /// Bytes, where they are known.
  var size: Int64?
  /// Of each chunk.
  var algorithm: DigestAlgorithm
  /// Absolute paths of local files that had the digest once.
  var find: @Sendable () -> [NameBytes]
  var stop = ReadStop.never

  struct Found: Sendable {
    var size: Int64
    var digest: Digest
    /// The partial file that has the copy, or the file that stands under the final name.
    var partial: SourceIdentity
  }

  /// The file that stands under the final name already, if it has the digest: it stays as it is. It is on the disk when
  /// this returns something, and was read from there.
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

  /// A copy is in the partial file and on the disk when this returns something: it was read there, and has the digest.
  /// What the ledger says of the other file proves nothing, which may have been written to since.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`.
  func copied(into target: Target) throws(Failure) -> Found? {
    for path in find() {
      if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while a local file was looked for") }
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
