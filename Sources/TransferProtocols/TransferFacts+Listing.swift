import TransferModel

/// Changes of the facts by a listing.
extension TransferFacts {
  /// A page of a probe was received.
  mutating func probed(next: String?) {
    probeMarker = next
    guard next == nil else { return }
    isProbed = true
    if lostAnswer != .finish { lostAnswer = nil }
  }

  /// Compares a page of the server's list with the facts. Chunks that are missing in this page, or differ in length,
  /// become pending: the server's list is authoritative.
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
    adopt(Self.named(once: page.compactMap(\.receipt)), &update)
    if !lost.isEmpty { update.changes.append(.disownChunks(lost)) }
  }

  /// The first receipt of each chunk: a list that names a chunk twice says no more than one that names it once.
  private static func named(once receipts: [PartReceipt]) -> [PartReceipt] {
    var seen: Set<Int> = []
    return receipts.filter { seen.insert($0.seq).inserted }
  }

  /// Uncertain chunks that the server's list proves to be stored.
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

  /// `count` of the chunks missing in a listing had been recorded as stored.
  public mutating func disowned(_ count: Int) {
    guard count > 0 else { return }
    hasLosses = true
    storedChunks -= count
    acked = min(acked, Int64(storedChunks) * layout.chunkSize)
    parts = []
  }

  /// The file was claimed, for the first time or again: knowledge about the server is out of date.
  package mutating func claimed(lostAnswer: AttemptOperation?) {
    self.lostAnswer = lostAnswer
    isResumed = session?.remoteID != nil
    (isProbed, isAbsent) = (false, false)
    inconclusive = []
  }

  /// A server that no longer knows the session after every chunk was stored may have just completed it, by a request
  /// whose answer was lost: the object is queried again before anything is sent. Not if the object exists and differs
  /// from what was sent.
  public func mayBeCompleting(after failure: Failure, failures: Int) -> Bool {
    isAllStored && failures < FailureAction.completionPatience && failure.code != .integrityMismatch
  }
}

extension FailureAction {
  /// How often a missing session with every chunk stored is assumed to be being completed: `.sessionGone` then repeats
  /// the final query, and nothing is discarded.
  public static let completionPatience = 2
}
