import TransferLedger
import TransferModel
import TransferProtocols

/// Results of work on the local file of a download, which involves no request.
extension FileMachine {
  /// A completely fetched download.
  var isFetched: Bool { claimed.direction == .download && facts.isPlanned && facts.isAllStored }
  /// It waits until its partial file has been moved to its final name.
  var isPlacing: Bool { if case .held(.placing, _) = phase { true } else { false } }

  /// Whether its next step is `place`.
  func isToBePlaced(_ proto: ProtocolInUse) -> Bool {
    guard phase == .working, openCount == 0, case .place = proto.nextStep(facts) else { return false }
    return true
  }

  /// Whether it is completely fetched, and is being placed, is to be placed, or waits for the ledger before that.
  func needsNoServer(_ proto: ProtocolInUse) -> Bool { isPlacing || isFetched && (isHeld || isToBePlaced(proto)) }

  /// The path from the name that the server supplied; nil if the path does not change.
  func givenPath(_ proto: ProtocolInUse) -> NameBytes? {
    guard let name = proto.bodiesInAnswers?.givenName(facts) else { return nil }
    let folder = claimed.path.bytes.prefix(through: claimed.path.bytes.lastIndex(of: 0x2F) ?? 0)
    let path = NameBytes(Array(folder) + name.bytes)
    return path == claimed.path ? nil : path
  }

  /// The file was renamed, or could not be (see `Placing`). Returns the resulting changes.
  /// - Parameters:
  ///   - retryMs: if the file has to be fetched again, the retry time in milliseconds since 1970 UTC.
  ///   - renewal: the notes of its next session, if other places may have the right content.
  mutating func placed(
    _ result: Result<SourceIdentity?, Failure>, _ proof: FileProof, retryMs: Int64,
    renewal: [String: String]? = nil
  ) -> [FileChange] {
    endLocalWork()
    switch result {
    case .success(let identity):
      release()
      return (identity.map { [.notePlaced($0)] } ?? []) + [.complete(receipt(proof))]
    case .failure(let failure):
      if let renewal { return renewed(renewal, failure) }
      failedLocally(failure, retryMs: retryMs)
      return []
    }
  }

  /// The received data is wrong: everything is requested again from another place.
  mutating func renewed(_ notes: [String: String], _ failure: Failure) -> [FileChange] {
    end(.release(notBeforeMs: nil, failure.code, isFailure: false))
    return (isFinishing ? [.resumeSending] : []) + [.renewSession(notes, failure)]
  }

  /// Records the intact data of the version on the server. If that is all of it, the file is done and stays as it is.
  mutating func reused(_ result: Result<Reused, Failure>, _ proof: FileProof, retryMs: Int64) -> [FileChange] {
    endLocalWork()
    tableLength = 0
    switch result {
    case .success(let found):
      facts.reused(found.parts)
      let notes = facts.compared(found.notes).map { [FileChange.noteSession($0)] } ?? []
      guard let identity = found.whole else { return stored(found) + notes }
      release()
      return [.notePartialFile(identity), .reuseChunks(found.parts), .startFinishing, .notePlaced(identity)]
        + [.complete(receipt(proof))]
    case .failure(let failure):
      failedLocally(failure, retryMs: retryMs)
      return []
    }
  }

  private func stored(_ found: Reused) -> [FileChange] {
    guard let partial = found.partial else { return [] }
    let missing = found.missing.map { FileChange.noteMissing(seq: $0.seq, remote: $0.notes) }
    let isNoted = facts.acked > found.parts.reduce(0) { $0 + ($1.reused ?? $1.length) }
    return (isNoted ? [] : [.notePartialFile(partial)])
      + (found.parts.isEmpty ? [] : [.reuseChunks(found.parts)]) + missing
  }

  private mutating func failedLocally(_ failure: Failure, retryMs: Int64) {
    switch failure {
    // It could be removed again for the same reason: the file waits, as after any failure.
    case Placing.partialIsGone:
      sessionFate.lose(.gone)
      end(.release(notBeforeMs: retryMs, failure.code, isFailure: true))
    // Other protocols close theirs.
    case _ where failure.code == .localFDLimit: end(.release(notBeforeMs: retryMs, failure.code, isFailure: false))
    case _ where failure.code == .engineInterrupted: end(.release(notBeforeMs: nil, nil, isFailure: false))
    case _ where failure.isOfFullDisk:
      if failure.isLostWrite { sessionFate.lose(.useless) }
      end(.release(notBeforeMs: retryMs, failure.code, isFailure: false))
    case _ where failure.isLostWrite:
      sessionFate.lose(.useless)
      end(.fail(failure, keepsSession: false))
    case _ where failure.code == .integrityMismatch: end(.fail(failure, keepsSession: false))
    // The received data is kept for a retry, which can succeed when the name is free.
    default: end(.fail(failure, keepsSession: true))
    }
  }
}
