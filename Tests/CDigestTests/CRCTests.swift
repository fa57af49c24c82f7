import CDigest
import Testing

/// The definition, one bit at a time.
private func bitwise(_ bytes: some Sequence<UInt8>, polynomial: UInt64, width: UInt64) -> UInt64 {
  let ones = UInt64.max >> (64 - width)
  var register = ones
  for byte in bytes {
    register ^= UInt64(byte)
    for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? polynomial : 0) }
  }
  return register ^ ones
}

private func crc32c(_ bytes: some Sequence<UInt8>) -> UInt64 { bitwise(bytes, polynomial: 0x82F6_3B78, width: 32) }
private func crc32(_ bytes: some Sequence<UInt8>) -> UInt64 { bitwise(bytes, polynomial: 0xEDB8_8320, width: 32) }
private func crc64(_ bytes: some Sequence<UInt8>) -> UInt64 {
  bitwise(bytes, polynomial: 0x9A6C_9329_AC4B_C9B5, width: 64)
}

private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
  var state = seed
  return (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
}

@Suite struct CRCTests {
  let check = Array("123456789".utf8)

  @Test func checkValues() {
    #expect(cdigest_crc32(0, check, 9) == 0xCBF4_3926)
    #expect(cdigest_crc32c(0, check, 9) == 0xE306_9283)
    #expect(cdigest_crc64nvme(0, check, 9) == 0xAE8B_1486_0A79_9888)
    #expect(cdigest_crc32c(0, nil, 0) == 0)
    #expect(cdigest_crc64nvme(0, nil, 0) == 0)
  }

  /// RFC 3720 appendix B.4.
  @Test func iscsiVectors() {
    #expect(cdigest_crc32c(0, [UInt8](repeating: 0, count: 32), 32) == 0x8A91_36AA)
    #expect(cdigest_crc32c(0, [UInt8](repeating: 0xFF, count: 32), 32) == 0x62A8_AB43)
    #expect(cdigest_crc32c(0, [UInt8](0..<32), 32) == 0x46DD_794E)
  }

  @Test func everyLengthAtEveryAlignmentMatchesTheDefinition() {
    let bytes = noise(512, seed: 1)
    for length in 0...300 {
      for start in 0..<16 {
        let slice = bytes[start..<start + length]
        let (short, long) = (crc32c(slice), crc64(slice))
        bytes.withUnsafeBytes { raw in
          let p = raw.baseAddress! + start
          #expect(UInt64(cdigest_crc32(0, p, length)) == crc32(slice), "\(length) at \(start)")
          #expect(UInt64(cdigest_crc32_portable(0, p, length)) == crc32(slice), "\(length) at \(start)")
          #expect(UInt64(cdigest_crc32c(0, p, length)) == short, "\(length) at \(start)")
          #expect(UInt64(cdigest_crc32c_portable(0, p, length)) == short, "\(length) at \(start)")
          #expect(cdigest_crc64nvme(0, p, length) == long, "\(length) at \(start)")
          #expect(cdigest_crc64nvme_portable(0, p, length) == long, "\(length) at \(start)")
        }
      }
    }
  }

  @Test func longBuffersMatchThePortablePathAndContinue() {
    let bytes = noise(70_000, seed: 2)
    for cut in [0, 1, 15, 127, 128, 129, 4096, 65_536, 69_999, 70_000] {
      bytes.withUnsafeBytes { raw in
        let p = raw.baseAddress!
        let rest = p + cut
        let short = cdigest_crc32c(cdigest_crc32c(0, p, cut), rest, 70_000 - cut)
        let long = cdigest_crc64nvme(cdigest_crc64nvme(0, p, cut), rest, 70_000 - cut)
        #expect(short == cdigest_crc32c_portable(0, p, 70_000), "cut at \(cut)")
        #expect(long == cdigest_crc64nvme_portable(0, p, 70_000), "cut at \(cut)")
      }
    }
  }

  @Test func combineEqualsTheChecksumOfTheWhole() {
    for seed in UInt64(0)..<300 {
      let a = noise(Int(seed &* 7919 % 5000), seed: seed)
      let b = noise(Int(seed &* 104_729 % 5000), seed: seed + 1000)
      let length = UInt64(b.count)
      let short = cdigest_crc32c_combine(cdigest_crc32c(0, a, a.count), cdigest_crc32c(0, b, b.count), length)
      let long = cdigest_crc64nvme_combine(cdigest_crc64nvme(0, a, a.count), cdigest_crc64nvme(0, b, b.count), length)
      let zip = cdigest_crc32_combine(cdigest_crc32(0, a, a.count), cdigest_crc32(0, b, b.count), length)
      #expect(zip == cdigest_crc32(0, a + b, a.count + b.count))
      #expect(short == cdigest_crc32c(0, a + b, a.count + b.count))
      #expect(long == cdigest_crc64nvme(0, a + b, a.count + b.count))
    }
  }

  /// Lengths greater than any buffer: combining is associative, so (A+B)+C equals A+(B+C) even for terabytes.
  @Test func combineIsAssociativeForHugeLengths() {
    for power in [0, 16, 32, 40, 47, 62] {
      let b = UInt64(1) << UInt64(power)
      let left = cdigest_crc64nvme_combine(cdigest_crc64nvme_combine(0x1234, 0x5678, b), 0x9ABC, b + 1)
      let right = cdigest_crc64nvme_combine(0x1234, cdigest_crc64nvme_combine(0x5678, 0x9ABC, b + 1), b + b + 1)
      #expect(left == right, "2^\(power)")
      let short = cdigest_crc32c_combine(cdigest_crc32c_combine(0x1234, 0x5678, b), 0x9ABC, b + 1)
      #expect(short == cdigest_crc32c_combine(0x1234, cdigest_crc32c_combine(0x5678, 0x9ABC, b + 1), b + b + 1))
    }
  }
}
