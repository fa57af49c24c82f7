import TransferModel
import TransferProtocols

/// Reuses the intact data of the version to be fetched from the file that has the final name of the download. A value,
/// so that it can be passed between threads; blocking.
struct Reusing: Sendable {
  var target: Target
  var past: PastDownload
  /// Something is stored in the partial file.
  var holdsBytes: Bool
  /// The chunks of which nothing is stored.
  var chunks: [PastChunk]
  var stop = ReadStop.never

  /// The data that was found, durable on return. Data that does not certainly belong to the version is not reused, but
  /// fetched.
  /// - Throws: `engine.interrupted`, `local.disk_full`, `local.io`; ``Placing/partialIsGone``.
  func perform() throws(Failure) -> Reused {
    guard !chunks.isEmpty, let file = target.standing() else { return Reused() }
    if isWhole(file) { return try whole(file) }
    let isSynced = isSynced(file)
    let found = try intact(chunks, in: file)
    guard isSynced, try isProven(file, found) else { return try copied(found, from: file) }
    return try whole(file)
  }

  /// Syncs the file, because it may have been written without a sync. If this fails, or failed before (the kernel
  /// reports that only once), only data that is read back from the disk counts.
  private func isSynced(_ file: TargetFile) -> Bool {
    defer { file.dropCache() }
    do throws(Failure) {
      try file.sync()
      try target.syncNames()
      return true
    } catch {
      return false
    }
  }

  private func whole(_ file: TargetFile) throws(Failure) -> Reused {
    try target.removePartial()
    return Reused(parts: chunks.map(receipt), whole: file.identity)
  }

  private func receipt(_ chunk: PastChunk) -> PartReceipt {
    PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: past.proof.etag, digest: chunk.digest, confirmation: .size)
  }

  // MARK: - All of it

  private func hasAll(_ found: [PastChunk], _ file: TargetFile) -> Bool {
    found.count == past.layout.count && file.identity.size == past.layout.size
  }

  /// Nobody wrote to it since it got its final name, as far as its identity shows, and no check found that it changed.
  private func isWhole(_ file: TargetFile) -> Bool {
    guard !past.isSuspect, past.identity.ctimeNs != 0, hasAll(chunks, file) else { return false }
    return past.identity.relation(to: file.identity) == .same
  }

  /// All of its chunks are unchanged, and all known digests of the whole file match. Reading takes a while, in which
  /// nobody may write to the file.
  private func isProven(_ file: TargetFile, _ found: [PastChunk]) throws(Failure) -> Bool {
    guard hasAll(found, file) else { return false }
    let whole = ByteRange(offset: 0, length: past.layout.size)
    let known = past.digests.filter { $0.algorithm != found.first?.digest.algorithm }
    let digests = known.isEmpty ? [:] : try file.digests(of: whole, Set(known.map(\.algorithm)), stop)
    return known.allSatisfy { digests[$0.algorithm] == $0 } && file.identityNow == file.identity
  }

  // MARK: - Some of it

  private func intact(_ chunks: [PastChunk], in file: TargetFile) throws(Failure) -> [PastChunk] {
    var found: [PastChunk] = []
    let size = file.identityNow?.size ?? 0
    for chunk in chunks where chunk.range.end <= size {
      do throws(Failure) {
        let algorithm = chunk.digest.algorithm
        if try file.digests(of: chunk.range, [algorithm], stop)[algorithm] == chunk.digest { found.append(chunk) }
      } catch {
        // A chunk that cannot be read from the disk is fetched.
        if error.code == .engineInterrupted { throw error }
      }
    }
    return found
  }

  /// A chunk counts if its digest matches in the partial file, regardless of changes to the other file meanwhile.
  private func copied(_ found: [PastChunk], from file: TargetFile) throws(Failure) -> Reused {
    guard !found.isEmpty else { return Reused() }
    guard let partial = try target.file(size: past.layout.size, holdsBytes: holdsBytes) else {
      throw Placing.partialIsGone
    }
    for chunk in found {
      _ = try partial.copy(chunk.range, from: file, at: chunk.range.offset, stop)
    }
    let copied = try intact(found, in: partial)
    try partial.sync()
    return Reused(parts: copied.map(receipt), partial: partial.identity)
  }
}

/// The part of a download that need not be fetched.
struct Reused: Sendable {
  var parts: [PartReceipt] = []
  /// The local file has all of the data, and stays as it is; nil if its data was copied.
  var whole: SourceIdentity?
  /// The partial file with the copy.
  var partial: SourceIdentity?
  /// By the number of a chunk, the stored form of what is missing of it, if the partial file has other parts of it.
  var missing: [(seq: Int, notes: [String: String])] = []
  /// Notes for the session.
  var notes: [String: String] = [:]
  /// Why data is missing that a person may expect to be reused.
  var remark: String?

  /// Whether data was found.
  var hasData: Bool { !parts.isEmpty || !missing.isEmpty }
}
