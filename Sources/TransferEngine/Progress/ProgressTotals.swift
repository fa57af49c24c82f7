import TransferLedger
import TransferModel

/// The whole of a run: what it has brought to an end, and what the ledger counts as left. What other processes add,
/// retry or take away meanwhile comes in with the next count. A value.
struct ProgressTotals: Sendable, Hashable {
  /// What this run knows by itself at one moment.
  private struct Own: Sendable, Hashable {
    /// Done, failed and unknown files, with the bytes of them that are acknowledged.
    var ended = WorkSize()
    /// Bytes that requests of this run got acknowledged.
    var acked: Int64 = 0
  }

  private var own = Own()
  private var givenUp: Int64 = 0
  private var asked: Own?
  private var counted = Own()
  private var left: WorkSize?

  mutating func stored(bytes: Int64) { own.acked += bytes }

  /// A file is done, failed or unknown.
  mutating func ended(size: Int64, bytesAcked: Int64) {
    own.ended.files += 1
    own.ended.bytes += size
    own.ended.bytesAcked += bytesAcked
    givenUp += max(0, size - bytesAcked)
  }

  /// A count is asked of the ledger that will see all that this run knows now, and nothing of it that comes later.
  mutating func askedForCount() { asked = own }

  mutating func counted(_ size: WorkSize) {
    guard let asked else { return }
    (counted, left, self.asked) = (asked, size, nil)
  }

  func fill(_ snapshot: inout ProgressSnapshot) {
    let left = left ?? WorkSize()
    snapshot.totalIsKnown = self.left != nil && !left.hasListings
    // What a listing named since the last count may have ended before the next.
    snapshot.filesTotal = max(counted.ended.files + left.files, own.ended.files)
    snapshot.bytesTotal = max(counted.ended.bytes + left.bytes, own.ended.bytes)
    snapshot.bytesEarlier = max(0, counted.ended.bytesAcked + left.bytesAcked - counted.acked)
    snapshot.bytesAcked = snapshot.bytesEarlier + own.acked
    snapshot.bytesGivenUp = givenUp
  }
}
