import TransferLedger
import TransferModel
import TransferProtocols

extension TransferFacts {
  /// What the ledger knows of a claimed file.
  init(of claimed: ClaimedFile, _ layout: ChunkLayout) {
    var file = FileFacts(
      uid: claimed.uid, key: claimed.key, size: layout.size, mtimeMs: claimed.identity.mtimeNs / 1_000_000)
    file.expected = claimed.expected
    file.properties = claimed.properties
    self.init(file: file, layout: layout)
    session = claimed.session?.facts
    self.claimed(lostAnswer: claimed.lostAnswer)
    storedChunks = claimed.doneChunks
    acked = claimed.doneBytes
    sentThrough = claimed.doneBytes
    for (seq, end) in claimed.sentEnds { sent(seq, through: end) }
    isSentElsewhere = claimed.isDoubtful
    hasLosses = claimed.hasLosses
    isPlanned = claimed.layout != nil
    past = claimed.past
    earlierVersion = claimed.earlierVersion
  }
}
