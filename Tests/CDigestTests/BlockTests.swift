import CDigest
import Testing

/// The digests and checksums of blocks in `.zsync` files.
@Suite struct BlockTests {
  private func md4(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 16)
    cdigest_md4(bytes, bytes.count, &digest)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// RFC 1320 appendix A.5.
  @Test(arguments: [
    ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
    ("abc", "a448017aaf21d8525fc10ae87aa6729d"), ("message digest", "d9130a8164549fe818874806e1c7014b"),
    ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
    ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"),
    (
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "e33b4ddc9c38f2199c3e7b164fcc0536"
    ),
  ]) func md4OfTheRFC(_ text: String, _ digest: String) { #expect(md4(Array(text.utf8)) == digest) }

  private func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private func sum(_ bytes: [UInt8], at offset: Int, _ length: Int) -> UInt32 {
    let block = Array(bytes[offset..<offset + length])
    return cdigest_block_sum(block, length)
  }

  @Test func theSumOfABlock() {
    // a = 1 + 2 + 3, b = 3 * 1 + 2 * 2 + 1 * 3.
    #expect(cdigest_block_sum([1, 2, 3], 3) == 6 << 16 | 10)
    let high = [UInt8](repeating: 255, count: 2_048)
    let (a, b) = (2_048 * 255 % 65_536, 2_048 * 2_049 / 2 * 255 % 65_536)
    #expect(cdigest_block_sum(high, 2_048) == UInt32(a) << 16 | UInt32(b))
  }

  /// Each position is found by the rolling sums, with the same sums as computed anew.
  @Test(arguments: [false, true]) func everyPositionIsFound(_ pairs: Bool) {
    let (shift, length, count) = (6, 64, 500)
    let bytes = random(count + 2 * length)
    for position in [0, 1, 63, 64, 311, count - 1] {
      let (first, second) = (sum(bytes, at: position, length), sum(bytes, at: position + length, length))
      let slot = cdigest_block_slot(first, pairs ? second : 0, 24)
      var slots = [UInt64](repeating: 0, count: 1 << 18)
      slots[Int(slot / 64)] |= 1 << UInt64(slot % 64)
      var sums = cdigest_block_sums(first: sum(bytes, at: 0, length), second: sum(bytes, at: length, length))
      let found = slots.withUnsafeBufferPointer { slots in
        var filter = cdigest_block_filter(
          slots: slots.baseAddress!, bits: 24, shift: UInt32(shift), mask: .max, pairs: pairs)
        return cdigest_find_block(bytes, 0, count, &filter, &sums)
      }
      #expect(found == position && sums.first == first)
      #expect(!pairs || sums.second == second)
    }
  }
}
