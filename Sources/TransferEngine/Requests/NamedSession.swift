import TransferLedger
import TransferModel
import TransferProtocols

/// The URL that a server gave to a new upload, while the ledger is queried for another upload that has it. With the
/// same URL for two files, one would be stored in place of the other, and both would count as done.
struct NamedSession: Sendable {
  let request: RequestNumbers.Number
  let file: FileID
  let remoteID: String
  let reply: TransferReply
  private let meaning: Interpretation

  /// nil if the answer names no new upload by a URL. Other IDs may be the same for different uploads.
  init?(_ request: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply, _ machine: FileMachine) {
    guard let remoteID = meaning.opened?.remoteID, machine.facts.session?.remoteID == nil,
      remoteID.hasPrefix("http://") || remoteID.hasPrefix("https://")
    else { return nil }
    (self.request, self.remoteID, self.reply, self.meaning) = (request, remoteID, reply, meaning)
    file = machine.claimed.id
  }

  /// Queries the writer, after all its earlier work.
  func askWhetherItIsTaken(
    _ ledger: Ledger, then report: @escaping @Sendable (Result<Bool, TransferError>) -> Void
  ) {
    let (file, remoteID) = (file, remoteID)
    ledger.write({ tx in try tx.isSessionTaken(remoteID, from: file) }, then: report)
  }

  /// The answer, or a failure that opens nothing: the upload belongs to the other file, and must not be aborted either.
  func meaning(isTaken: Bool) -> Interpretation {
    guard isTaken else { return meaning }
    return .failed(Failure(.protoBadReply, "the server gave the URL of another upload"), .permanent)
  }
}
