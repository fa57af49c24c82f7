import TransferLedger
import TransferModel
import TransferProtocols

/// An attempt that ended with an answer, and what the protocol made of it: changes its file, and determines the changes
/// of rows that belong to the end of the attempt.
struct AnsweredAttempt {
  let request: BegunRequest
  let retry: RetryDecision

  func conclude(_ meaning: Interpretation, _ machine: inout FileMachine) -> [FileChange] {
    let update = machine.close(request, learning: meaning)
    return update.changes.flatMap { changes($0, &machine) }
  }

  /// The changes of rows that correspond to a change of the facts.
  private func changes(_ change: FactsUpdate.Change, _ machine: inout FileMachine) -> [FileChange] {
    switch change {
    case .openSession(let session, let notes):
      return [.openSession(remoteID: session.remoteID, expiresAtMs: session.expiresAtMs, notes: notes)]
    case .noteSession(let notes): return [.noteSession(notes)]
    case .doubtChunk(let remote): return request.chunk.map { [.doubtChunk($0, request.attempt, remote: remote)] } ?? []
    case .noteChunk(let remote): return request.chunk.map { [.noteChunk($0, request.attempt, remote: remote)] } ?? []
    case .storeChunk(let part): return stored(part, &machine)
    case .beginFile(let beginning, let plan):
      return [.storeBeginning(request.attempt, beginning, plan: plan)]
        + (beginning.reused.map { [.reuseChunks([$0])] } ?? [])
    case .divide(let layout): return [.recut(layout)]
    case .list(let page): return listed(page, &machine)
    case .advanceChunk(let acked): return advanced(to: acked, &machine)
    case .prepareChunk(let remote):
      return request.chunk.map { [.prepareChunk($0, request.attempt, remote: remote)] } ?? []
    case .storePiece(let remote): return pieceStored(remote, &machine)
    case .probeChunk(let acked): return request.chunk.map { [.probeChunk($0, request.attempt, acked: acked)] } ?? []
    case .alignChunks(let offset):
      if !machine.facts.isAllStored { machine.resumeSending() }
      machine.requests.endBackoffs()
      return [.alignChunks(request.attempt, offset: offset)]
    case .adoptChunks(let parts, let backingOff):
      machine.requests.dropBackoffs(backingOff)
      return [.adoptChunks(request.attempt, parts)]
    case .disownChunks(let seqs): return disowned(seqs, &machine)
    case .confirmChunks(let confirmation, let etag): return [.confirmChunks(request.attempt, confirmation, etag: etag)]
    case .complete(let proof): return completed(proof, &machine)
    case .wait(let afterMs):
      machine.end(.release(notBeforeMs: machine.facts.wallMs + afterMs, nil, isFailure: false))
      return request.chunk.map { [.releaseChunk($0, request.attempt)] } ?? []
    case .fail(let failure, let action):
      let failure = machine.claimed.staged == nil ? failure : failure.ofCopy
      return FailedAttempt(request: request, failure: failure, action: action, retry: retry).conclude(&machine)
    }
  }

  private func stored(_ part: PartReceipt, _ machine: inout FileMachine) -> [FileChange] {
    guard let chunk = request.chunk else { preconditionFailure("stored a control step") }
    machine.failureCounts.endRepairs()
    let isSent = if case .chunk = request.step { !request.isFound } else { false }
    return [isSent ? .storeChunk(chunk, request.attempt, part) : .findChunk(chunk, request.attempt, part)]
  }

  private func pieceStored(_ remote: [String: String], _ machine: inout FileMachine) -> [FileChange] {
    machine.failureCounts.forgive()
    machine.failureCounts.endRepairs()
    return request.chunk.map { [.storePiece($0, request.attempt, remote: remote)] } ?? []
  }

  /// A page counts as progress, however often the previous one failed.
  private func listed(_ page: ListedPage, _ machine: inout FileMachine) -> [FileChange] {
    machine.failureCounts.forgive()
    machine.failureCounts.endRepairs()
    let admit = FileChange.admitListed(ListedFiles(page, below: machine.claimed.path))
    guard page.isLast else { return [admit] }
    machine.release()
    let skipped = page.skipped > 0 ? ", \(page.skipped) of which are not files" : ""
    return [admit, .endSession(.completed), .endListing("\(page.found) listed\(skipped)")]
  }

  /// The server has the whole file, by the body of a request or by the last step.
  private func completed(_ proof: FileProof, _ machine: inout FileMachine) -> [FileChange] {
    machine.release()
    return (sessionEnd(proof, machine).map { [$0] } ?? []) + [.complete(machine.receipt(proof))]
  }

  private func sessionEnd(_ proof: FileProof, _ machine: FileMachine) -> FileChange? {
    guard machine.sessionID != nil else { return nil }
    // A session whose create call was never answered cannot have been completed by us.
    let isUnnamed = machine.facts.session?.remoteID == nil
    // The body of this request completed the file, so there is no session left to query.
    guard request.chunk == nil else { return isUnnamed ? .endSession(.gone) : nil }
    if machine.abilities.leavesUploads && proof.confirmation != .none { return .giveUpSession }
    return .endSession(isUnnamed ? .gone : .completed)
  }

  private func advanced(to acked: Int64, _ machine: inout FileMachine) -> [FileChange] {
    guard let chunk = request.chunk else { preconditionFailure("advanced a control step") }
    machine.failureCounts.endRepairs()
    if let failure = request.tinyProgress(to: acked) {
      machine.end(
        retry.isExhausted
          ? .fail(failure, keepsSession: true)
          : .release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: true))
    }
    return [.advanceChunk(chunk, request.attempt, acked: acked)]
  }

  /// The commit returns how many of them the ledger had recorded as done.
  private func disowned(_ seqs: [Int], _ machine: inout FileMachine) -> [FileChange] {
    let resumed: [FileChange] = machine.isFinishing ? [.resumeSending] : []
    machine.resumeSending()
    machine.hold(.disowning)
    return resumed + [.disownChunks(seqs)]
  }
}
