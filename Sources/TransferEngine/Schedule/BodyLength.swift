/// The maximum length of a body to one host, if the protocol can send less at a time. A value.
///
/// A body that counts completely or not at all is lost completely with its connection, and the lifetime of connections
/// is not known in advance. So the first body is short. Each one that arrives allows the next to be twice as long (a
/// quarter longer after a loss), as long as they take less than ``longMs``; a loss reduces the length to half of what
/// was sent, but to no less than a quarter of the previous length.
struct BodyLength: Sendable, Hashable {
  static let first: Int64 = 8 << 20
  static let shortest: Int64 = 1 << 20
  /// Bodies that take longer are not lengthened: the answers between bodies then cost little.
  static let longMs: Int64 = 2_000
  private static let longest: Int64 = 1 << 40

  private(set) var limit = first

  /// A body of `bytes` was stored. One much shorter than the limit is ignored.
  mutating func stored(_ bytes: Int64, tookMs: Int64, afterLoss: Bool) {
    guard bytes >= limit / 2, tookMs < Self.longMs else { return }
    limit = min(Self.longest, afterLoss ? limit + limit / 4 : limit * 2)
  }

  /// `sent` bytes of a body of `length` were sent before the connection was lost.
  mutating func lost(_ sent: Int64, of length: Int64) {
    let tried = min(limit, length)
    guard tried >= Self.shortest else { return }
    limit = max(Self.shortest, tried / 4, min(tried, sent) / 2)
  }
}
