import TransferLedger
import TransferModel
import TransferProtocols

/// One session that is being ended at its server.
struct AbortRun: Sendable {
  /// With the attempt of the request that is next, or running.
  var work: AbortWork
  /// Ids at the server that are still to be aborted; found by asking when the ledger knows none.
  var remaining: [String] = []
  var isListed: Bool
  private var isBegun = false
  var marker: String?
  /// Of the request that is running.
  var credential: Credential?

  init(_ work: AbortWork) {
    self.work = work
    isListed = work.remoteID != nil
  }

  /// What the protocol says that there is to be ended.
  mutating func begin(_ proto: ProtocolInUse) {
    guard !isBegun else { return }
    isBegun = true
    if isListed { remaining = proto.abortTargets(facts) }
    // Nobody can be asked what a create made whose answer never came.
    if !isListed && !proto.findsOrphans { isListed = true }
  }

  /// The next request; nil when the server knows nothing of the session any more.
  var step: StepRequest? {
    if !isListed { return .probe(marker: marker) }
    return remaining.last.map { .abort(remoteID: $0) }
  }

  /// What a protocol needs to know for the request.
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
