import TransferModel

/// How many bytes of bodies a run may still move. Taken when a request begins, as far as the length of its body is
/// known, and by answers that are longer than what was asked for, while they arrive.
final class ByteAllowance: Sendable {
  private let bytes: Lock<Int64>

  init(_ bytes: Int64) { self.bytes = Lock(bytes) }

  var left: Int64 { bytes.withLock { $0 } }

  /// Takes as many bytes, if they are left.
  func take(_ count: Int64) -> Bool {
    bytes.withLock { left in
      guard count <= left else { return false }
      left -= count
      return true
    }
  }

  /// A request with a body of this length begins.
  func begin(_ count: Int64) { bytes.withLock { $0 -= count } }

  /// As many of the bytes taken did not move.
  func giveBack(_ count: Int64) { bytes.withLock { $0 += count } }
}
