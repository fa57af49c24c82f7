/// How long a body to one host may be, where the protocol can send less at a time. A value.
///
/// Of a body that counts whole or not at all, everything is lost with its connection, and how long connections live is
/// not known before. So the first body is short. Each one that arrives lets the next be twice as long, by a quarter
/// after a loss, as long as they take less than ``longMs``; a loss makes it half of what went out, but no less than a
/// quarter of what it was.
struct BodyLength: Sendable, Hashable {
  static let first: Int64 = 8 << 20
  static let shortest: Int64 = 1 << 20
  /// A body that takes longer does not get longer: the answers between bodies cost little beside it.
  static let longMs: Int64 = 2_000
  private static let longest: Int64 = 1 << 40

  private(set) var limit = first

  /// A body of `bytes` is stored. One much shorter than the limit says nothing about it.
  mutating func stored(_ bytes: Int64, tookMs: Int64, afterLoss: Bool) {
    guard bytes >= limit / 2, tookMs < Self.longMs else { return }
    limit = min(Self.longest, afterLoss ? limit + limit / 4 : limit * 2)
  }

  /// `sent` bytes of a body of `length` went out before the connection was lost.
  mutating func lost(_ sent: Int64, of length: Int64) {
    let tried = min(limit, length)
    guard tried >= Self.shortest else { return }
    limit = max(Self.shortest, tried / 4, min(tried, sent) / 2)
  }
}
