import TransferModel

/// UUIDs that are computed, so that the same one is found again.
enum SessionUUID {
  /// A UUID (version 8, RFC 9562) that belongs to one session of one file.
  static func of(_ uid: UID, _ ms: Int64) -> String { of("session \(uid) \(ms)") }

  static func of(_ text: String) -> String {
    let hash = RunningDigest.of(Array(text.utf8), .sha256).bytes
    let words = [hash[0..<8], hash[8..<16]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    let high = words[0] & ~0xF000 | 0x8000
    let low = words[1] & ~(3 << 62) | 1 << 63
    return UID(high: high, low: low).description
  }
}
