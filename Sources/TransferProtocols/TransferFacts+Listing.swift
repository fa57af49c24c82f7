import TransferModel

/// What a listing of the server changes in the facts.
extension TransferFacts {
  /// A page of a probe was answered.
  mutating func probed(next: String?) {
    probeMarker = next
    guard next == nil else { return }
    isProbed = true
    if lostAnswer != .finish { lostAnswer = nil }
  }

  /// Compares a page of the server's list with what is known. Chunks that should be in this page and are not, or differ
  /// in length, are pending again: the server's word is the only truth.
  mutating func compare(_ page: [ListedPart], next: String?, _ update: inout FactsUpdate) {
    let first = listedThrough
    let last = next == nil ? layout.count - 1 : (page.map(\.seq).max() ?? first - 1)
    listedThrough = next == nil ? 0 : last + 1
    let lengths = Dictionary(page.map { ($0.seq, $0.length) }, uniquingKeysWith: { _, new in new })
    let lost = first > last ? [] : (first...last).filter { lengths[$0] != layout.range($0).length }
    probed(next: next)
    for part in page where part.receipt == nil && part.length == layout.range(part.seq).length {
      listed[part.seq] = part
    }
    adopt(page.compactMap(\.receipt), &update)
    if !lost.isEmpty { update.changes.append(.disownChunks(lost)) }
  }

  /// Chunks in doubt that the server's list proves to be there.
  private mutating func adopt(_ receipts: [PartReceipt], _ update: inout FactsUpdate) {
    guard !receipts.isEmpty else { return }
    let seqs = Set(receipts.map(\.seq))
    let backingOff = doubts.filter { seqs.contains($0.seq) && $0.isBackingOff }.count
    doubts.removeAll { seqs.contains($0.seq) }
    storedChunks += receipts.count
    update.gained = receipts.reduce(0) { $0 + $1.length }
    update.isNew = !hasLosses
    update.changes.append(.adoptChunks(receipts, backingOff: backingOff))
  }

  /// So many of the chunks that a listing lacks had been taken for stored.
  public mutating func disowned(_ count: Int) {
    guard count > 0 else { return }
    hasLosses = true
    storedChunks -= count
    acked = min(acked, Int64(storedChunks) * layout.chunkSize)
    parts = []
  }

  /// The file is taken up, for the first time or again: what was known of the server is old.
  public mutating func claimed(lostAnswer: AttemptOperation?) {
    self.lostAnswer = lostAnswer
    isResumed = session?.remoteID != nil
    (isProbed, isAbsent) = (false, false)
    untold = []
  }

  /// A server that forgot the session with every chunk stored may have completed it just now, by a request whose answer
  /// was lost: the object is looked for again before anything is sent again. Not when it was made, and is not what we
  /// sent.
  public func mayBeCompleting(after failure: Failure, failures: Int) -> Bool {
    isAllStored && failures < Remedy.completionPatience && failure.code != .integrityMismatch
  }
}

extension Remedy {
  /// How often a session that vanished with every chunk stored is taken for one that is being completed: `.sessionGone`
  /// then asks for the end again, and nothing is forgotten.
  public static let completionPatience = 2
}
