/// The row to which a leaf of the log belongs.
enum LogEntry: Hashable {
  case receipt(file: Int64, n: Int64)
  case attempt(Int64)
  case event(Int64)
  /// One transaction of a prune: the rows that it deleted, and their sums.
  case prune(Int64)
  /// An ended attempt again, after bytes were credited to it. The counts are those from before the credit, so that the
  /// previous leaf can still be made from the row.
  case credited(attempt: Int64, transferred: Int64, acked: Int64)

  /// Appends the entry in stored form: a byte for the kind, then its numbers, 7 bits a byte. The kind also determines
  /// how the row is encoded: a program that encodes rows differently must use a new number.
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .receipt(let file, let n):
      bytes.append(1)
      Self.append(file, to: &bytes)
      Self.append(n, to: &bytes)
    case .attempt(let id):
      bytes.append(2)
      Self.append(id, to: &bytes)
    case .event(let id):
      bytes.append(3)
      Self.append(id, to: &bytes)
    case .prune(let id):
      bytes.append(5)
      Self.append(id, to: &bytes)
    case .credited(let id, let transferred, let acked):
      bytes.append(4)
      for number in [id, transferred, acked] { Self.append(number, to: &bytes) }
    }
  }

  /// The entry with the number that its row has in a merged ledger.
  func shifted(by base: Int64) -> LogEntry {
    switch self {
    case .receipt(let file, let n): .receipt(file: file &+ base, n: n)
    case .attempt(let id): .attempt(id &+ base)
    case .event(let id): .event(id &+ base)
    case .prune(let id): .prune(id &+ base)
    case .credited(let id, let transferred, let acked):
      .credited(attempt: id &+ base, transferred: transferred, acked: acked)
    }
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Reads entries that ``append(to:)`` wrote; nil for damaged bytes.
  static func all(_ bytes: [UInt8]) -> [LogEntry]? {
    var (entries, place): ([LogEntry], Int) = ([], 0)
    while place < bytes.count {
      let kind = bytes[place]
      place += 1
      guard let first = number(bytes, &place) else { return nil }
      switch kind {
      case 1:
        guard let n = number(bytes, &place) else { return nil }
        entries.append(.receipt(file: first, n: n))
      case 2: entries.append(.attempt(first))
      case 3: entries.append(.event(first))
      case 5: entries.append(.prune(first))
      case 4:
        guard let transferred = number(bytes, &place), let acked = number(bytes, &place) else { return nil }
        entries.append(.credited(attempt: first, transferred: transferred, acked: acked))
      default: return nil
      }
    }
    return entries
  }

  private static func number(_ bytes: [UInt8], _ place: inout Int) -> Int64? {
    var (number, shift) = (UInt64(0), UInt64(0))
    while place < bytes.count, shift < 64 {
      let byte = bytes[place]
      place += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: number) }
      shift += 7
    }
    return nil
  }
}

extension LogEntry: CustomStringConvertible {
  var description: String {
    switch self {
    case .receipt(let file, let n): "receipt \(n) of f\(file)"
    case .attempt(let id), .credited(let id, _, _): "a\(id)"
    case .event(let id): "event \(id)"
    case .prune(let id): "prune \(id)"
    }
  }
}
