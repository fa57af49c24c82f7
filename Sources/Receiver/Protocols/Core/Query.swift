/// The `name=value` pairs after the question mark of a request target, percent-decoded.
struct Query {
  private let pairs: [(name: [UInt8], value: [UInt8])]

  /// Refuses invalid percent-encoding with 400.
  init(_ query: ArraySlice<UInt8>) throws(ExchangeEnd) {
    var pairs: [(name: [UInt8], value: [UInt8])] = []
    for pair in query.split(separator: 0x26) {
      let equals = pair.firstIndex(of: 0x3D) ?? pair.endIndex
      guard let name = percentDecoded(pair[..<equals]), let value = percentDecoded(pair[equals...].dropFirst()) else {
        throw .refuse(400, "the query has a broken percent sign")
      }
      pairs.append((name, value))
    }
    self.pairs = pairs
  }

  /// Whether this asks for a list of objects, as clients of S3 do.
  static func isListing(_ query: ArraySlice<UInt8>) -> Bool {
    query.split(separator: 0x26).contains { $0.elementsEqual("list-type=2".utf8) }
  }

  /// The bytes of the first value with this name.
  func bytes(_ name: String) -> [UInt8]? { pairs.first { $0.name.elementsEqual(name.utf8) }?.value }

  subscript(name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

  func has(_ name: String) -> Bool { bytes(name) != nil }

  /// A non-negative whole number; nil when it is absent, 400 when it is anything else.
  func number(_ name: String) throws(ExchangeEnd) -> Int64? {
    guard let text = self[name] else { return nil }
    guard let number = wholeNumber(text) else { throw .refuse(400, "\(name) is not a whole number") }
    return number
  }
}

/// The value of plain decimal digits, at most 18 of them; nil for anything else.
func wholeNumber(_ text: some StringProtocol) -> Int64? {
  guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return Int64(text)
}
