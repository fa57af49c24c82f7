import TransferModel

/// Limits the published checksums of blocks that are in memory at the same time, and with them the searches, whose
/// memory is in proportion: a file counts from the request for its checksums until the end of its search. A value.
struct TableRoom: Sendable {
  /// In bytes. A longer table is requested only while no other is in memory.
  static let most: Int64 = 16 << 20

  private var lengths: [FileID: Int64] = [:]
  private var total: Int64 = 0

  /// How long a table may be that is requested now.
  var left: Int64 { lengths.isEmpty ? .max : max(0, Self.most - total) }

  /// The length that counts for a file; 0 for none.
  mutating func count(_ length: Int64, for file: FileID) {
    guard length > 0 || !lengths.isEmpty else { return }
    total += length - (lengths[file] ?? 0)
    lengths[file] = length > 0 ? length : nil
  }
}
