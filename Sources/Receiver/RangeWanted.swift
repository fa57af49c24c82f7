import TransferModel

/// The range that a Range field asks for. Several ranges, other units and malformed fields count as no field at all.
enum RangeWanted: Equatable {
  case whole
  case part(ByteRange)
  case unsatisfiable

  init(_ field: String, size: Int64) {
    guard field.hasPrefix("bytes="), !field.contains(",") else {
      self = .whole
      return
    }
    let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2 else {
      self = .whole
      return
    }
    self = Self.between(Self.number(ends[0]), Self.number(ends[1]), size)
  }

  /// The outer nil means malformed, the inner nil empty.
  private static func number(_ text: Substring) -> Int64?? {
    if text.isEmpty { return .some(nil) }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text) ?? .max
  }

  private static func between(_ first: Int64??, _ last: Int64??, _ size: Int64) -> RangeWanted {
    guard let first, let last else { return .whole }
    switch (first, last) {
    case (nil, nil): return .whole
    case (nil, let suffix?):
      let length = min(suffix, size)
      return length == 0 ? .unsatisfiable : .part(ByteRange(offset: size - length, length: length))
    case (let first?, let last):
      if let last, last < first { return .whole }
      if first >= size { return .unsatisfiable }
      return .part(ByteRange(offset: first, length: min(last ?? .max, size - 1) - first + 1))
    }
  }
}
