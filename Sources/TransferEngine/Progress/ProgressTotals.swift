import TransferLedger
import TransferModel

/// The totals of a run: the files that it has ended, and those that the ledger counts as left. Changes by other
/// processes are included in the next count. A value.
struct ProgressTotals: Sendable, Hashable {
  /// The figures of this run itself at one moment.
  private struct Own: Sendable, Hashable {
    /// Done, failed and unknown files, and their acknowledged bytes.
    var ended = WorkSize()
    /// Bytes of requests of this run that were acknowledged.
    var acked: Int64 = 0
  }

  private var own = Own()
  private var givenUp: Int64 = 0
  private var asked: Own?
  private var counted = Own()
  private var left: WorkSize?

  mutating func stored(bytes: Int64) { own.acked +|= bytes }

  /// A file is done, failed or unknown.
  mutating func ended(size: Int64, bytesAcked: Int64) {
    own.ended.files += 1
    own.ended.bytes +|= size
    own.ended.bytesAcked +|= bytesAcked
    givenUp +|= max(0, size -| bytesAcked)
  }

  /// A count was requested from the ledger; it includes everything that this run knows now, and nothing later.
  mutating func askedForCount() { asked = own }

  mutating func counted(_ size: WorkSize) {
    guard let asked else { return }
    (counted, left, self.asked) = (asked, size, nil)
  }

  func fill(_ snapshot: inout ProgressSnapshot) {
    let left = left ?? WorkSize()
    snapshot.totalIsKnown = self.left != nil && !left.hasListings
    // Files from a listing since the last count may have ended before the next.
    snapshot.filesTotal = max(counted.ended.files + left.files, own.ended.files)
    snapshot.sizesUnknown = left.unsized
    snapshot.bytesTotal = max(counted.ended.bytes +| left.bytes, own.ended.bytes)
    snapshot.bytesEarlier = max(0, counted.ended.bytesAcked +| left.bytesAcked -| counted.acked)
    snapshot.bytesAcked = snapshot.bytesEarlier +| own.acked
    snapshot.bytesGivenUp = givenUp
  }
}
