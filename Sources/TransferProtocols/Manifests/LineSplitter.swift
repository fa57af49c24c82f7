import TransferModel

/// Splits buffers into lines. Keeps only the current incomplete line.
///
/// A carriage return at the end of a line and a UTF-8 byte order mark before the first line are dropped. The last line
/// needs no line end.
struct LineSplitter {
  /// Maximum length of a line, in bytes.
  static let longest = 1 << 20

  private let name: NameBytes
  private var partial: [UInt8] = []
  private(set) var line = 0

  init(_ name: NameBytes) { self.name = name }

  /// Calls `body` with each complete line and its number; the bytes are valid only during the call.
  mutating func split(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool,
    _ body: (UnsafeRawBufferPointer, Int) throws(TransferError) -> Void
  ) throws(TransferError) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
      try take(rest[..<end], body)
      rest = rest[(end + 1)...]
    }
    guard isLast else { return try keep(rest) }
    if !rest.isEmpty || !partial.isEmpty { try take(rest, body) }
  }

  private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TransferError) {
    guard partial.count + bytes.count <= Self.longest else { throw tooLong(line + 1) }
    partial.append(contentsOf: bytes)
  }

  private mutating func take(
    _ bytes: Slice<UnsafeRawBufferPointer>, _ body: (UnsafeRawBufferPointer, Int) throws(TransferError) -> Void
  ) throws(TransferError) {
    guard !partial.isEmpty else {
      line += 1
      return try Self.give(UnsafeRawBufferPointer(rebasing: bytes), line, name, body)
    }
    try keep(bytes)
    line += 1
    let number = line
    try partial.withUnsafeBufferPointer { [name] buffer throws(TransferError) in
      try Self.give(UnsafeRawBufferPointer(buffer), number, name, body)
    }
    partial.removeAll(keepingCapacity: true)
  }

  private static func give(
    _ bytes: UnsafeRawBufferPointer, _ number: Int, _ name: NameBytes,
    _ body: (UnsafeRawBufferPointer, Int) throws(TransferError) -> Void
  ) throws(TransferError) {
    guard bytes.count <= longest else { throw tooLong(number, name) }
    var text = bytes[...]
    if number == 1 {
      if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
      if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
        throw ManifestFault("it is written in UTF-16", "convert the file to UTF-8").error(name, line: number)
      }
    }
    if text.last == 0x0D { text = text.dropLast() }
    try body(UnsafeRawBufferPointer(rebasing: text), number)
  }

  private func tooLong(_ number: Int) -> TransferError { Self.tooLong(number, name) }

  private static func tooLong(_ number: Int, _ name: NameBytes) -> TransferError {
    ManifestFault("it is longer than \(longest) bytes", "check that this is a manifest, and of which format")
      .error(name, line: number)
  }
}
