import Glibc

/// Bytes without a pattern, the same for the same seed. They are made eight at a time, because a draw for each byte,
/// from the system's generator and without optimisation, takes half a microsecond: seconds for an object of megabytes.
package func noise(_ count: Int, seed: UInt64 = .random(in: 0 ... .max)) -> [UInt8] {
  words(count, seed) { $0 }
}

/// The same of letters, digits and signs from `!` to `` ` ``.
package func printableNoise(_ count: Int, seed: UInt64 = .random(in: 0 ... .max)) -> [UInt8] {
  words(count, seed) { ($0 & 0x3F3F_3F3F_3F3F_3F3F) &+ 0x2121_2121_2121_2121 }
}

private func words(_ count: Int, _ seed: UInt64, _ change: (UInt64) -> UInt64) -> [UInt8] {
  var generator = SplitMix(state: seed)
  return [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, filled in
    let start = UnsafeMutableRawPointer(buffer.baseAddress!)
    var at = 0
    while at < count {
      start.storeBytes(of: change(generator.next()), toByteOffset: at, as: UInt64.self)
      at &+= 8
    }
    filled = count
  }
}

/// Without optimisation `==` on arrays of bytes takes a second for a few megabytes.
package func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  one.count == other.count && memcmp(one, other, one.count) == 0
}
