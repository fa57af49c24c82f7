import Testing

@testable import Receiver

/// Source: RFC 3720 appendix B.4 for the 32-byte vectors.
@Suite struct ChecksumTests {
  @Test func knowsThePublishedVectors() {
    #expect(CRC32C.of(Array("123456789".utf8)) == 0xE306_9283)
    #expect(CRC32C.of([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(CRC32C.of([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(CRC32C.of((0..<32).map { UInt8($0) }) == 0x46DD_794E)
    #expect(CRC32C.of([]) == 0)
  }

  @Test func isTheSameHoweverTheBytesAreCut() {
    let bytes = sample(1000)
    for cut in [1, 7, 8, 9, 500, 999] {
      var crc = CRC32C()
      bytes.withUnsafeBytes { all in
        crc.add(UnsafeRawBufferPointer(rebasing: all[..<cut]))
        crc.add(UnsafeRawBufferPointer(rebasing: all[cut...]))
      }
      #expect(crc.value == CRC32C.of(bytes))
    }
  }
}
