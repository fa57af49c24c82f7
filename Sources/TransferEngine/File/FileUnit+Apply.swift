import TransferLedger
import TransferModel
import TransferProtocols

extension FileUnit {
  /// Applies the unit with the ledger's named transitions, in this order: size, plan, end of the attempt, changes,
  /// beginning. Throws at the first transition that does not apply: `.leaseLost` if another engine took over, and
  /// otherwise `.bug`, because only the rows of this file are not as expected.
  func apply(_ tx: LedgerTransaction, run: RunID) throws -> Begun {
    do {
      return try begin(tx, run)
    } catch let error as TransferError where error.kind == .leaseLost {
      try tx.requireLease(run)
      throw refusal("\(error.operation): \(error.cause)")
    }
  }

  private func begin(_ tx: LedgerTransaction, _ run: RunID) throws -> Begun {
    var begun = Begun(file: file)
    if let size { try require(tx.learnSize(file, run, size), "learn the size") }
    if let plan, case .chunks(let limit)? = begin, ended == nil, changes.isEmpty {
      let chunks = try tx.planAndBegin(file, run, plan, limit: limit, isRepeatable: isRepeatable, opening: opening)
      guard let chunks else { throw leaseLost("plan", now: nil) }
      begun.chunks = chunks
      return begun
    }
    if let plan { try require(tx.plan(file, run, plan), "plan") }
    if let ended { try require(tx.closeAttempt(ended.attempt, run, ended.result), "end attempt \(ended.attempt)") }
    for change in changes { try apply(change, tx, run, &begun) }
    begun.creditedBytes = tx.takeCredited()
    if wantsParts { begun.parts = try tx.parts(of: file) }
    if let begin { try apply(begin, tx, run, &begun) }
    return begun
  }

  private func apply(_ begin: Begin, _ tx: LedgerTransaction, _ run: RunID, _ begun: inout Begun) throws {
    switch begin {
    case .chunks(let limit):
      begun.chunks = try tx.beginChunks(file, run, limit: limit, isRepeatable: isRepeatable, opening: opening)
    case .chunkThatOpensSession:
      try intendSession(tx, run, &begun)
      begun.chunks = try tx.beginChunks(file, run, limit: 1, isRepeatable: isRepeatable)
    case .control(let step):
      if step == .create { try intendSession(tx, run, &begun) }
      if case .probe = step { begun.doubts = try tx.doubts(of: file) }
      // Creating parent collections is not part of a session, which has a single creating request.
      let isOutside = if case .makeParent = step { true } else { false }
      let attempt = try tx.beginAttempt(
        file, run, step.operation, session: isOutside ? nil : begun.session?.id ?? session, isRepeatable: isRepeatable)
      begun.control = (step, attempt)
    case .placing(let proof, let path):
      begun.placing = proof
      if let path { try take(path, tx, run, &begun) }
    case .reusing(let proof): begun.reusing = proof
    case .question(let step, let beside):
      let attempt = try tx.beginAttempt(file, run, step.operation, session: session, isRepeatable: true)
      (begun.control, begun.beside) = ((step, attempt), beside)
    }
  }

  private func take(_ path: NameBytes, _ tx: LedgerTransaction, _ run: RunID, _ begun: inout Begun) throws {
    switch try tx.takeName(file, run, path) {
    case .applied: begun.placedAt = path
    case .taken(let other): begun.nameTakenBy = other
    case .lost(let state): throw leaseLost("take the name", now: state)
    }
  }

  private func intendSession(_ tx: LedgerTransaction, _ run: RunID, _ begun: inout Begun) throws {
    guard session == nil, begun.session == nil else { return }
    begun.session = ClaimedSession(
      id: try tx.intendSession(file, run), SessionFacts(remoteID: nil, intendedAtMs: tx.wallMs))
  }

  private func apply(_ change: FileChange, _ tx: LedgerTransaction, _ run: RunID, _ begun: inout Begun) throws {
    switch change {
    case .storeChunk(let chunk, let attempt, let part): try require(tx.storeChunk(chunk, attempt, part), "store chunk")
    case .findChunk(let chunk, let attempt, let part): try require(tx.findChunk(chunk, attempt, part), "find chunk")
    case .retryChunk(let chunk, let attempt, let notBeforeMs):
      try require(tx.retryChunk(chunk, attempt, notBeforeMs: notBeforeMs), "retry chunk")
    case .releaseChunk(let chunk, let attempt): try require(tx.releaseChunk(chunk, attempt), "release a chunk")
    case .failChunk(let chunk, let attempt): try require(tx.failChunk(chunk, attempt), "fail chunk")
    case .chunkUnknown(let chunk, let attempt): try require(tx.chunkUnknown(chunk, attempt), "mark chunk unknown")
    case .advanceChunk(let chunk, let attempt, let acked):
      try require(tx.advanceChunk(chunk, attempt, acked: acked), "advance chunk")
    case .prepareChunk(let chunk, let attempt, let remote):
      try require(tx.prepareChunk(chunk, attempt, remote: remote), "prepare chunk")
    case .storePiece(let chunk, let attempt, let remote):
      try require(tx.storePiece(chunk, attempt, remote: remote), "store a piece")
    case .noteMissing(let seq, let remote):
      try require(tx.noteMissing(file, run, seq: seq, remote: remote), "note missing ranges")
    case .probeChunk(let chunk, let attempt, let acked):
      try require(tx.probeChunk(chunk, attempt, acked: acked), "probe chunk")
    case .alignChunks(let attempt, let offset): try tx.alignChunks(file, run, by: attempt, offset: offset)
    case .doubtChunk(let chunk, let attempt, let remote):
      try require(tx.doubtChunk(chunk, attempt, remote: remote), "doubt chunk")
    case .noteChunk(let chunk, let attempt, let remote):
      try require(tx.noteChunk(chunk, attempt, remote: remote), "note chunk")
    case .storeBeginning(let attempt, let beginning, let plan):
      if let plan {
        try require(tx.learnSize(file, run, plan.size), "learn the size")
        try require(tx.plan(file, run, plan), "plan")
      }
      let stored = try tx.storeBeginning(file, run, by: attempt, bytes: beginning.received, beginning.part)
      try require(stored, "store the beginning")
    case .adoptChunks(let attempt, let parts):
      for part in parts {
        try require(tx.adoptChunk(file, run, seq: part.seq, by: attempt, part), "adopt chunk")
      }
    case .disownChunks(let seqs): begun.disownedChunks = try tx.disownChunks(file, run, seqs: seqs)
    case .confirmChunks(let attempt, let confirmation, let etag):
      try require(tx.confirmChunks(file, run, by: attempt, confirmation, etag: etag), "confirm chunks")
    case .resetChunks: begun.uselessBytes += try tx.resetLostChunks(file, run)
    case .recut(let layout): try require(tx.recut(file, run, layout), "divide the file again")
    case .openSession(let remoteID, let expiresAtMs, let notes):
      guard let session else { throw refusal("open a session that was not intended") }
      let opened = try tx.openSession(session, run, remoteID: remoteID, expiresAtMs: expiresAtMs, notes: notes)
      try require(opened, "open session")
    case .askAbout(let attempt):
      guard let session else { throw refusal("query a session that was not intended") }
      try require(tx.askAbout(attempt, of: session, run), "query attempt")
    case .beginOwnSession(let remoteID, let notes):
      let id = try tx.beginOwnSession(file, run, remoteID: remoteID, notes: notes)
      begun.session = ClaimedSession(
        id: id, SessionFacts(remoteID: remoteID, intendedAtMs: tx.wallMs, notes: notes))
    case .noteSession(let notes):
      guard let session = session ?? begun.session?.id else { throw refusal("notes without a session") }
      try require(tx.noteSession(session, run, notes), "note session")
    case .renewSession(let notes, _):
      if let session { try require(tx.endSession(session, .gone), "end session") }
      begun.uselessBytes += try tx.resetLostChunks(file, run)
      let renewed = try tx.intendSession(file, run)
      try require(tx.noteSession(renewed, run, notes), "note session")
    case .giveUpSession: try tx.giveUpSession(file, run)
    case .endSession(let state):
      guard let session = session ?? begun.session?.id else { return }
      try require(tx.endSession(session, state), "end session")
    case .notePartialFile(let identity): try require(tx.notePartialFile(file, run, identity), "note the partial file")
    case .reuseChunks(let parts):
      for part in parts { try require(tx.reuseChunk(file, run, part), "reuse chunk") }
    case .notePlaced(let identity): try require(tx.notePlaced(file, run, identity), "note the placed file")
    case .startFinishing: try require(tx.startFinishing(file, run), "start finishing")
    case .sight(let identity): try require(tx.sight(file, run, as: identity), "record a sighting")
    case .resumeSending: try require(tx.resumeSending(file, run), "resume sending")
    case .complete(let receipt):
      try require(tx.completeFile(file, run, receipt, sha256: sha256, content: content), "complete file")
      begun.unstaged = staged
    case .admitListed(let page): begun.admitted = try tx.admitListed(page, by: file, run)
    case .endListing(let detail): try require(tx.endListing(file, run, detail: detail), "end listing")
    case .release(let notBeforeMs, let code, let isFailure):
      try require(
        tx.releaseFile(file, run, notBeforeMs: notBeforeMs, code: code, isFailure: isFailure), "release file")
    case .fail(let code, let message, let keepsSession):
      try require(
        tx.failFile(file, run, code: code, message: message, keepsSession: keepsSession), "fail file")
    case .unknown(let code, let message):
      try require(tx.markUnknown(file, run, code: code, message: message), "mark file unknown")
    case .supersede(let identity, let notBeforeMs):
      begun.uselessBytes += try tx.bytesAcked(of: file, by: run)
      begun.successor = try tx.supersede(file, run, by: identity, notBeforeMs: notBeforeMs)
    case .endDuplicate(let other):
      guard try tx.isDelivered(file, by: other) else {
        begun.isRequeued = true
        return try require(
          tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false), "release a duplicate")
      }
      try require(tx.endDuplicate(file, run, of: other), "end duplicate")
    case .endGone(let reason): try require(tx.endGone(file, run, reason: reason), "end a file without a source")
    }
  }

  private func require(_ result: TransitionResult, _ what: String) throws {
    if case .lost(let state) = result { throw leaseLost(what, now: state) }
  }

  private func leaseLost(_ what: String, now state: String?) -> TransferError {
    TransferError(
      .leaseLost, what, NameBytes(file.description),
      cause: "another process changed it (now: \(state ?? "gone or owned by another run"))",
      remedy: "nothing was lost; run \"transfers run\" again")
  }

  /// The change cannot be made, which concerns this file only.
  private func refusal(_ cause: String) -> TransferError {
    TransferError(
      .bug, "change a file", NameBytes(file.description), cause: cause, remedy: "run \"transfers store check\"")
  }
}
