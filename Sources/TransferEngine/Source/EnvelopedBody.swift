import TransferModel

/// A body with bytes before and after it, for forms.
final class EnvelopedBody: BodySource, @unchecked Sendable {
  private let envelope: BodyEnvelope
  // Used by the transport's thread only.
  private let inner: any BodySource

  init(_ envelope: BodyEnvelope, around inner: any BodySource) {
    self.envelope = envelope
    self.inner = inner
  }

  var length: Int64 { Int64(envelope.prefix.count) + inner.length + Int64(envelope.suffix.count) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure> {
    let inside = offset - Int64(envelope.prefix.count)
    if inside < 0 { return .success(copy(envelope.prefix[Int(offset)...], into: buffer)) }
    if inside < inner.length { return inner.read(into: buffer, at: inside) }
    return .success(copy(envelope.suffix[Int(inside - inner.length)...], into: buffer))
  }

  private func copy(_ bytes: ArraySlice<UInt8>, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(bytes.count, buffer.count)
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    return count
  }
}
