import TransferLedger
import TransferModel
import TransferProtocols

/// Sessions that a server listed, while the ledger is asked which of them it knows. A protocol cannot know that another
/// file for the same key has a session too: what the ledger knows is taken off a list of orphans.
struct ListedSessions: Sendable {
  let request: RequestNumbers.Number
  let meaning: Interpretation
  let reply: TransferReply
  private let remoteIDs: [String]

  /// nil for an answer that lists none.
  init?(_ request: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply) {
    guard case .orphansListed(let remoteIDs, _) = meaning.outcome, !remoteIDs.isEmpty else { return nil }
    (self.request, self.meaning, self.reply, self.remoteIDs) = (request, meaning, reply, remoteIDs)
  }

  /// Asks the writer, after all that it was told before.
  func askWhichAreKnown(
    _ ledger: Ledger, then report: @escaping @Sendable (Result<Set<String>, TransferError>) -> Void
  ) {
    let remoteIDs = remoteIDs
    ledger.write({ tx in try tx.knownSessions(remoteIDs) }, then: report)
  }

  /// The answer without what is known. When the ledger could not be asked, all of them may be known.
  func meaning(without known: Result<Set<String>, TransferError>) -> Interpretation {
    guard case .orphansListed(let remoteIDs, let next) = meaning.outcome else { return meaning }
    let known = (try? known.get()) ?? Set(remoteIDs)
    return meaning.with(.orphansListed(remoteIDs.filter { !known.contains($0) }, next: next))
  }
}
