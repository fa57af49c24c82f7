import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct QuickXorTests {
  /// Vectors that rclone publishes (backend/onedrive/quickxorhash), made with Microsoft's own code.
  @Test(arguments: [
    ("", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="), ("Sg==", "SgAAAAAAAAAAAAAAAQAAAAAAAAA="),
    ("tbQ=", "taAFAAAAAAAAAAAAAgAAAAAAAAA="), ("jRRDVA==", "jaDAEKgAAAAAAAAABAAAAAAAAAA="),
    ("qaApEj66lw==", "qQBFCiTgA11cAgAABwAAAAAAAAA="), ("/aNzzCFPS/A=", "/RjFHJgRgicsAR4ACAAAAAAAAAA="),
  ])
  func publishedVectors(_ content: String, _ expected: String) throws {
    let bytes = try #require(bytesFromBase64(content))
    #expect(base64(RunningDigest.of(bytes, .quickxor).bytes) == expected)
  }

  /// Computes the hash bit by bit, as in its description.
  private func slow(_ bytes: [UInt8]) -> [UInt8] {
    var register = [UInt8](repeating: 0, count: 20)
    for (i, byte) in bytes.enumerated() {
      for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 {
        let place = (i * 11 + bit) % 160
        register[place / 8] ^= 1 << UInt8(place % 8)
      }
    }
    for i in 0..<8 { register[12 + i] ^= UInt8(truncatingIfNeeded: bytes.count >> (8 * i)) }
    return register
  }

  @Test func anyLengthInAnyPiecesIsTheSame() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ ($0 >> 3)) }
    for length in [1, 14, 15, 159, 160, 161, 320, 479, 1_000] {
      let part = Array(bytes.prefix(length))
      #expect(RunningDigest.of(part, .quickxor).bytes == slow(part))
      for piece in [1, 7, 160, 333] {
        var running = RunningDigest(.quickxor)
        for start in stride(from: 0, to: length, by: piece) {
          part[start..<min(length, start + piece)].withUnsafeBytes { running.update($0) }
        }
        let copy = running
        #expect(running.finish().bytes == slow(part) && copy.finish() == running.finish())
      }
    }
  }
}
