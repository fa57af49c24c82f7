import TransferLedger
import TransferModel
import TransferProtocols

/// Sessions that a server listed, while the ledger is asked which of them it knows.
struct ListedSessions: Sendable {
  let job: EngineLoop.JobID
  let meaning: Interpretation
  let reply: TransferReply
  /// The answer belongs to a session that is being ended.
  let isAbort: Bool
  let remoteIDs: [String]

  /// nil for an answer that lists none.
  init?(_ job: EngineLoop.JobID, _ meaning: Interpretation, _ reply: TransferReply, isAbort: Bool) {
    guard case .orphansListed(let remoteIDs, _) = meaning.outcome, !remoteIDs.isEmpty else { return nil }
    (self.job, self.meaning, self.reply, self.isAbort, self.remoteIDs) = (job, meaning, reply, isAbort, remoteIDs)
  }

  func meaning(without known: Set<String>) -> Interpretation {
    guard case .orphansListed(let remoteIDs, let next) = meaning.outcome else { return meaning }
    return meaning.with(.orphansListed(remoteIDs.filter { !known.contains($0) }, next: next))
  }
}

/// A protocol cannot know that another file for the same key has a session too: what the ledger knows is taken off a list of
/// orphans. The writer is asked, after all that it was told before, and the loop goes on meanwhile.
extension EngineLoop {
  func askForKnownSessions(_ listed: ListedSessions) {
    let mailbox = mailbox
    let remoteIDs = listed.remoteIDs
    engine.ledger.write(
      { tx in try tx.knownSessions(remoteIDs) }, then: { mailbox.put(.knownSessions($0, listed)) })
  }

  func sessionsAreKnown(_ result: Result<Set<String>, TransferError>, _ listed: ListedSessions) {
    var known = Set(listed.remoteIDs)
    switch result {
    case .success(let found): known = found
    case .failure(let error): fail(error)
    }
    let meaning = listed.meaning(without: known)
    if listed.isAbort { return concludeAbort(listed.job, meaning, listed.reply) }
    conclude(listed.job, meaning, reply: listed.reply, identityNow: jobs[listed.job]?.identityNow)
  }
}
