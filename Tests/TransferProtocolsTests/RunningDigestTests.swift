import Testing
import TransferModel
import TransferProtocols

@Suite struct RunningDigestTests {
  @Test(arguments: DigestAlgorithm.allCases)
  func anySplitGivesTheSameDigest(_ algorithm: DigestAlgorithm) {
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let whole = RunningDigest.of(bytes, algorithm)
    var running = RunningDigest(algorithm)
    for start in stride(from: 0, to: 5000, by: 333) {
      Array(bytes[start..<min(start + 333, 5000)]).withUnsafeBytes { running.update($0) }
    }
    #expect(running.finish() == whole)
  }

  @Test func checkValuesComeMostSignificantByteFirst() {
    let check = Array("123456789".utf8)
    #expect(RunningDigest.of(check, .crc32c).description == "crc32c:e3069283")
    #expect(RunningDigest.of(check, .crc64nvme).description == "crc64nvme:ae8b14860a799888")
    #expect(RunningDigest.of([], .md5).description == "md5:d41d8cd98f00b204e9800998ecf8427e")
    let long = RunningDigest.of(check, .sha512)
    #expect(
      long.description
        == "sha512:d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274a"
        + "d27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85")
    #expect(Digest(text: long.description) == long)
  }

  @Test(arguments: DigestAlgorithm.allCases)
  func copiesAreValues(_ algorithm: DigestAlgorithm) {
    var first = RunningDigest(algorithm)
    Array("ab".utf8).withUnsafeBytes { first.update($0) }
    let second = first
    Array("c".utf8).withUnsafeBytes { first.update($0) }
    #expect(first.finish() == RunningDigest.of(Array("abc".utf8), algorithm))
    #expect(second.finish() == RunningDigest.of(Array("ab".utf8), algorithm))
  }

  @Test func finishCanBeAskedTwice() {
    var running = RunningDigest(.sha256)
    Array("abc".utf8).withUnsafeBytes { running.update($0) }
    #expect(running.finish() == running.finish())
    Array("d".utf8).withUnsafeBytes { running.update($0) }
    #expect(running.finish() == RunningDigest.of(Array("abcd".utf8), .sha256))
  }

  @Test func checksumsCombineAndOthersDoNot() {
    let (a, b) = (Array("hello ".utf8), Array("world".utf8))
    for algorithm in [DigestAlgorithm.crc32c, .crc64nvme] {
      let combined = RunningDigest.combine(
        RunningDigest.of(a, algorithm), RunningDigest.of(b, algorithm), secondLength: Int64(b.count))
      #expect(combined == RunningDigest.of(a + b, algorithm))
    }
    let md5 = RunningDigest.of(a, .md5)
    #expect(RunningDigest.combine(md5, md5, secondLength: 6) == nil)
    #expect(RunningDigest.combine(RunningDigest.of(a, .crc32c), md5, secondLength: 6) == nil)
  }
}
