import Testing
import TransferModel

@testable import TransferEngine

@Suite struct EnvelopedBodyTests {
  /// The bytes 0, 1, 2, … of a body.
  private final class Counting: BodySource {
    let length: Int64
    init(_ length: Int64) { self.length = length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure> {
      let count = min(buffer.count, Int(length - offset))
      for i in 0..<count { buffer[i] = UInt8(truncatingIfNeeded: offset + Int64(i)) }
      return .success(count)
    }
  }

  private func bytes(_ body: any BodySource, from start: Int64 = 0, piece: Int) throws -> [UInt8] {
    var out: [UInt8] = []
    var buffer = [UInt8](repeating: 0xFF, count: piece)
    while start + Int64(out.count) < body.length {
      let count = try buffer.withUnsafeMutableBytes { try body.read(into: $0, at: start + Int64(out.count)).get() }
      try #require(count > 0)
      out += buffer[..<count]
    }
    return out
  }

  @Test(arguments: [1, 2, 3, 7, 64]) func aFrameStandsAroundTheSourceWhateverThePieces(piece: Int) throws {
    for (prefix, length, suffix) in [
      ([90, 91, 92], 5, [93, 94]), ([90], 0, [91, 92, 93]), ([], 4, []), ([90], 3, []),
    ] {
      let envelope = BodyEnvelope(prefix: prefix.map(UInt8.init), suffix: suffix.map(UInt8.init))
      let body = EnvelopedBody(envelope, around: Counting(Int64(length)))
      let expected = envelope.prefix + (0..<length).map(UInt8.init) + envelope.suffix
      #expect(body.length == Int64(expected.count))
      for start in 0...expected.count {
        #expect(try bytes(body, from: Int64(start), piece: piece) == Array(expected[start...]), "after a rewind")
      }
    }
  }
}
