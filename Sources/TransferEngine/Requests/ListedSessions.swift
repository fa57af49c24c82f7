import TransferLedger
import TransferModel
import TransferProtocols

/// Sessions listed by a server, while the ledger is queried for those that it knows. A protocol cannot know that
/// another file with the same key has a session too: sessions known to the ledger are removed from the list of unlisted
/// uploads.
struct ListedSessions: Sendable {
  let request: RequestNumbers.Number
  let meaning: Interpretation
  let reply: TransferReply
  private let remoteIDs: [String]

  /// nil if the answer lists none.
  init?(_ request: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply) {
    guard case .unlistedUploads(let remoteIDs, _) = meaning.outcome, !remoteIDs.isEmpty else { return nil }
    (self.request, self.meaning, self.reply, self.remoteIDs) = (request, meaning, reply, remoteIDs)
  }

  /// Queries the writer, after all its earlier work.
  func askWhichAreKnown(
    _ ledger: Ledger, then report: @escaping @Sendable (Result<Set<String>, TransferError>) -> Void
  ) {
    let remoteIDs = remoteIDs
    ledger.write({ tx in try tx.knownSessions(remoteIDs) }, then: report)
  }

  /// The answer without known sessions. If the query failed, all of them may be known.
  func meaning(without known: Result<Set<String>, TransferError>) -> Interpretation {
    guard case .unlistedUploads(let remoteIDs, let next) = meaning.outcome else { return meaning }
    let known = (try? known.get()) ?? Set(remoteIDs)
    return meaning.with(.unlistedUploads(remoteIDs.filter { !known.contains($0) }, next: next))
  }
}
