import TransferLedger
import TransferModel
import TransferProtocols

/// One session that is being aborted on its server.
struct AbortRun: Sendable {
  /// With the attempt of the next or running request.
  var work: AbortWork
  /// IDs on the server that are still to be aborted; queried from the server if the ledger knows none.
  var remaining: [String] = []
  var isListed: Bool
  private var isBegun = false
  var marker: String?
  /// Credential of the running request.
  var credential: Credential?
  var isSent = false
  /// It was cancelled because the machine slept.
  var endsBySleep = false

  init(_ work: AbortWork) {
    self.work = work
    isListed = work.remoteID != nil
  }

  /// Determines what the protocol has to abort.
  mutating func begin(_ proto: ProtocolInUse) {
    guard !isBegun else { return }
    isBegun = true
    if isListed { remaining = proto.abortTargets(facts) }
    // The result of a create request without an answer cannot be queried.
    if !isListed && !proto.findsUnlistedUploads { isListed = true }
  }

  /// The next request; nil if nothing of the session is left on the server.
  var step: StepRequest? {
    if !isListed { return .probe(marker: marker) }
    return remaining.last.map { .abort(remoteID: $0) }
  }

  /// The same before its next request.
  var unsent: AbortRun {
    var unsent = self
    (unsent.credential, unsent.isSent, unsent.endsBySleep) = (nil, false, false)
    return unsent
  }

  /// The facts that the protocol needs for the request.
  var facts: TransferFacts {
    let file = FileFacts(uid: work.uid, key: work.key, size: work.size, mtimeMs: work.mtimeNs / 1_000_000)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: work.size))
    facts.session = SessionFacts(remoteID: work.remoteID, intendedAtMs: work.intendedAtMs, notes: work.notes)
    facts.parts = work.remotes.enumerated().map { seq, remote in
      PartReceipt(seq: seq, length: 0, etag: "", digest: nil, confirmation: .none, remote: remote)
    }
    facts.lostAnswer = work.remoteID == nil ? .create : nil
    return facts
  }
}
