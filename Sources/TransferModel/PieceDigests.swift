/// Digests of consecutive pieces of a file, all of equal length except the last.
public struct PieceDigests: Sendable, Hashable {
  public let algorithm: DigestAlgorithm
  /// Of a piece, in bytes; above 0.
  public let length: Int64
  /// All of the digests, one after the other.
  public let bytes: [UInt8]

  public init(_ algorithm: DigestAlgorithm, length: Int64, bytes: [UInt8]) {
    precondition(length > 0 && bytes.count % algorithm.byteCount == 0, "pieces of \(length) bytes")
    (self.algorithm, self.length, self.bytes) = (algorithm, length, bytes)
  }

  public var count: Int { bytes.count / algorithm.byteCount }

  public subscript(piece: Int) -> Digest {
    let start = piece * algorithm.byteCount
    return Digest(algorithm, Array(bytes[start..<start + algorithm.byteCount]))
  }

  /// The pieces completely within a range, of a file of `size` bytes. The last piece ends with the file.
  package func pieces(within range: ByteRange, of size: Int64) -> Range<Int> {
    let first = Int(range.offset.dividedUp(by: length))
    let end = range.end >= size ? count : Int(range.end / length)
    return first < end ? first..<end : first..<first
  }

  /// The range of a piece of a file of `size` bytes.
  package func range(_ piece: Int, of size: Int64) -> ByteRange {
    let offset = Int64(piece) * length
    return ByteRange(offset: offset, length: min(length, size - offset))
  }

  /// Whether the pieces cover all of a file of `size` bytes.
  package func covers(_ size: Int64) -> Bool { Int64(count) == size.dividedUp(by: length) }
}

/// The stored form: `{"algorithm":"sha256","bytes":"base64","length":262144}`.
extension PieceDigests: Codable {
  private enum Key: String, CodingKey { case algorithm, length, bytes }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let name = try values.decode(String.self, forKey: .algorithm)
    let text = try values.decode(String.self, forKey: .bytes)
    length = try values.decode(Int64.self, forKey: .length)
    guard let algorithm = DigestAlgorithm(rawValue: name), let bytes = bytesFromBase64(text), length > 0,
      bytes.count % algorithm.byteCount == 0
    else {
      throw DecodingError.dataCorruptedError(forKey: .bytes, in: values, debugDescription: "invalid digests of pieces")
    }
    (self.algorithm, self.bytes) = (algorithm, bytes)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(algorithm.rawValue, forKey: .algorithm)
    try values.encode(length, forKey: .length)
    try values.encode(base64(bytes), forKey: .bytes)
  }
}
