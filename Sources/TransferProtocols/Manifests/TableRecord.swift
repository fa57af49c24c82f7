/// One record of a table, assembled from its lines. Its memory is reused for the next one.
struct TableRecord {
  var separator: UInt8 = 0x2C
  /// A quoted field continues in the next line.
  private(set) var isOpen = false
  private var text: [UInt8] = []
  /// The ends of the fields in ``text``.
  private var ends: [Int] = []

  var count: Int { ends.count }

  /// Adds the next line of the record that began in line `start`; true if the record is complete.
  mutating func append(_ line: UnsafeRawBufferPointer, _ start: Int) throws(ManifestFault) -> Bool {
    var rest = line[...]
    if isOpen {
      text.append(0x0A)
      guard text.count + line.count <= LineSplitter.longest else { throw Self.unclosed(start) }
      isOpen = false
      guard try quoted(&rest, start) else { return !isOpen }
    } else {
      text.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
    }
    while try field(&rest, start) {}
    return !isOpen
  }

  /// Reads a field and the following separator; false at the end of the line.
  private mutating func field(_ rest: inout Slice<UnsafeRawBufferPointer>, _ start: Int) throws(ManifestFault) -> Bool {
    if rest.first == 0x22 {
      rest = rest.dropFirst()
      return try quoted(&rest, start)
    }
    let value = rest.prefix { $0 != separator }
    guard !value.contains(0x22) else {
      throw ManifestFault(
        "a double quote is inside a field without quotes", "put the field in quotes, and double those in it",
        line: start)
    }
    text.append(contentsOf: value)
    ends.append(text.count)
    rest = rest[value.endIndex...]
    return rest.popFirst() != nil
  }

  /// Reads the rest of a quoted field, likewise.
  private mutating func quoted(_ rest: inout Slice<UnsafeRawBufferPointer>, _ start: Int) throws(ManifestFault) -> Bool
  {
    while let end = rest.firstIndex(of: 0x22) {
      text.append(contentsOf: rest[..<end])
      rest = rest[(end + 1)...]
      guard rest.first == 0x22 else {
        ends.append(text.count)
        guard let next = rest.popFirst() else { return false }
        if next == separator { return true }
        throw ManifestFault(
          "there is text after the closing double quote", "double the quotes in a field", line: start)
      }
      text.append(0x22)
      rest = rest.dropFirst()
    }
    text.append(contentsOf: rest)
    rest = rest[rest.endIndex...]
    isOpen = true
    return false
  }

  /// Calls `body` with the fields, which are valid only during the call.
  func withFields<R, E: Error>(_ body: ([UnsafeRawBufferPointer]) throws(E) -> R) throws(E) -> R {
    try text.withUnsafeBufferPointer { buffer throws(E) in
      let bytes = UnsafeRawBufferPointer(buffer)
      var start = 0
      let fields = ends.map { end in
        defer { start = end }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      }
      return try body(fields)
    }
  }

  static func unclosed(_ start: Int) -> ManifestFault {
    ManifestFault("a double quote is never closed", "close it, or double it where it is part of a field", line: start)
  }
}
