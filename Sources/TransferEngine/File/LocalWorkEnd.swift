import TransferLedger
import TransferModel
import TransferProtocols

/// The end of work on the local file of a download, which involves no request: changes the file, and determines the
/// changes of rows.
struct LocalWorkEnd {
  let proof: FileProof
  /// If the file has to be fetched again, the retry time in milliseconds since 1970 UTC.
  let retryMs: Int64

  /// The file was renamed, or could not be (see `Placing`). Returns the resulting changes.
  /// - Parameter renewal: the notes of its next session, if other places may have the right content.
  func placed(
    _ result: Result<SourceIdentity?, Failure>, renewal: [String: String]?, _ machine: inout FileMachine
  ) -> [FileChange] {
    machine.endLocalWork()
    switch result {
    case .success(let identity):
      machine.release()
      return (identity.map { [.notePlaced($0)] } ?? []) + [.complete(machine.receipt(proof))]
    case .failure(let failure):
      if let renewal { return machine.renewed(renewal, failure) }
      fail(failure, &machine)
      return []
    }
  }

  /// Records the intact data of the version on the server. If that is all of it, the file is done and stays as it is.
  func reused(_ result: Result<Reused, Failure>, _ machine: inout FileMachine) -> [FileChange] {
    machine.endLocalWork()
    machine.requests.endTable()
    switch result {
    case .success(let found):
      machine.facts.reused(found.parts)
      let notes = machine.facts.compared(found.notes).map { [FileChange.noteSession($0)] } ?? []
      guard let identity = found.whole else { return stored(found, machine) + notes }
      machine.release()
      return [.notePartialFile(identity), .reuseChunks(found.parts), .startFinishing, .notePlaced(identity)]
        + [.complete(machine.receipt(proof))]
    case .failure(let failure):
      fail(failure, &machine)
      return []
    }
  }

  private func stored(_ found: Reused, _ machine: FileMachine) -> [FileChange] {
    guard let partial = found.partial else { return [] }
    let missing = found.missing.map { FileChange.noteMissing(seq: $0.seq, remote: $0.notes) }
    let isNoted = machine.facts.acked > found.parts.reduce(0) { $0 + ($1.reused ?? $1.length) }
    return (isNoted ? [] : [.notePartialFile(partial)])
      + (found.parts.isEmpty ? [] : [.reuseChunks(found.parts)]) + missing
  }

  private func fail(_ failure: Failure, _ machine: inout FileMachine) {
    switch failure {
    // It could be removed again for the same reason: the file waits, as after any failure.
    case Placing.partialIsGone:
      machine.sessionFate.lose(.gone)
      machine.end(.release(notBeforeMs: retryMs, failure.code, isFailure: true))
    // Other protocols close theirs.
    case _ where failure.code == .localFDLimit:
      machine.end(.release(notBeforeMs: retryMs, failure.code, isFailure: false))
    case _ where failure.code == .engineInterrupted: machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
    case _ where failure.isOfFullDisk:
      if failure.isLostWrite { machine.sessionFate.lose(.useless) }
      machine.end(.release(notBeforeMs: retryMs, failure.code, isFailure: false))
    case _ where failure.isLostWrite:
      machine.sessionFate.lose(.useless)
      machine.end(.fail(failure, keepsSession: false))
    case _ where failure.code == .integrityMismatch: machine.end(.fail(failure, keepsSession: false))
    // The received data is kept for a retry, which can succeed when the name is free.
    default: machine.end(.fail(failure, keepsSession: true))
    }
  }
}
