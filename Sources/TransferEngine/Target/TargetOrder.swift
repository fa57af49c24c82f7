import TransferModel
import TransferProtocols

/// What a preparing thread needs to prepare the target of a chunk. A value, so that it can be passed between threads.
struct TargetOrder: Sendable {
  var target: Target
  /// Something is stored in the partial file.
  var holdsBytes: Bool
  /// Size of the whole file, in bytes; nil before the server was queried.
  var size: Int64?
  /// The range that the answer should contain.
  var range: ByteRange
  /// The stored part of the chunk before the range.
  var stored: ByteRange
  /// What earlier runs stored of other chunks; nil if they are not compared.
  var others: TargetRegion.StoredRanges?
  /// The answer contains the whole part of the chunk that is not stored.
  var endsChunk: Bool
  /// The file with the final name may be from an earlier fetch of the same URL: the server may answer that it has not
  /// changed, so nothing is created unless content arrives.
  var hasPast = false
  /// Local files that may have the same content; nil if none are searched for.
  var twins: Twins?
  var algorithm: DigestAlgorithm
  var content: TargetRegion.Content
  var credential: Credential?
  var stop = ReadStop.never
}

extension TargetOrder {
  /// Whether nothing has to be read for it.
  var isShort: Bool { twins == nil && !(endsChunk && stored.length > 0) }

  /// Opens or makes the partial file. Blocking: runs on a preparing thread.
  func perform() -> Result<Prepared, PreparationFailure> {
    var open = OpenFolders()
    return perform(in: &open)
  }

  /// The same in a folder that may be open already.
  func perform(in open: inout OpenFolders) -> Result<Prepared, PreparationFailure> {
    do throws(PreparationFailure) {
      return .success(try prepared(in: &open))
    } catch {
      return .failure(error)
    }
  }

  private func prepared(in open: inout OpenFolders) throws(PreparationFailure) -> Prepared {
    do throws(Failure) {
      if let kept = try twins?.standing(at: target) { return Prepared(credential: credential, twin: kept) }
      if target.isNamedLater {
        // A conflicting name is detected when the file gets its final name.
      } else if target.overwrites {
        try Placing.refuse(others: target.names, in: &open)
      } else {
        try Placing.refuse(existing: target.names, in: &open)
      }
      if let found = try twins?.copied(into: target) { return Prepared(credential: credential, twin: found) }
      if hasPast, target.standing() != nil { return conditional(credential) }
      let made = try target.file(size: size, holdsBytes: holdsBytes, in: &open)
      guard let file = made else { throw Placing.partialIsGone }
      var head: Digest?
      if endsChunk, stored.length > 0 { head = try file.digests(of: stored, [algorithm], stop)[algorithm] }
      let region = TargetRegion(file, range, stored: stored, others: others, head: head, algorithm, content: content)
      return Prepared(region: region, credential: credential)
    } catch {
      throw PreparationFailure(error, action: error == Placing.partialIsGone ? .sessionGone : .permanent)
    }
  }

  private func conditional(_ credential: Credential?) -> Prepared {
    let (target, holdsBytes, size) = (target, holdsBytes, size)
    let make = { @Sendable () throws(Failure) -> TargetFile in
      guard let file = try target.file(size: size, holdsBytes: holdsBytes) else { throw Placing.partialIsGone }
      return file
    }
    let region = TargetRegion(nil, make: make, range, algorithm, content: content)
    return Prepared(region: region, credential: credential, holdsPast: true)
  }
}
