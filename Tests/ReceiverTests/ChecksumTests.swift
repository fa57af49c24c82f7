import Testing
import TransferModel

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

  @Test(arguments: [0, 1, 7, 500, 999, 1000])
  func isCombinedFromItsParts(cut: Int) {
    let bytes = sample(1000)
    let (a, b) = (CRC32C.of(Array(bytes[..<cut])), CRC32C.of(Array(bytes[cut...])))
    #expect(CRC32C.combined(a, b, lengthB: Int64(1000 - cut)) == CRC32C.of(bytes))
  }

  /// Sources: RFC 1321 A.5, FIPS 180-4 examples, and the check value of CRC-32.
  @Test(arguments: [
    (RunningHash.Kind.md5, "900150983cd24fb0d6963f7d28e17f72"), (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      .sha512,
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ), (.crc32, "352441c2"),
  ])
  func digestsOfAbc(kind: RunningHash.Kind, hex: String) {
    #expect(hexText(RunningHash.of(Array("abc".utf8), kind)) == hex)
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
