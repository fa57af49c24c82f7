import TransferModel

/// A value for a parameter of a statement.
enum SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  case integer(Int64)
  case text(String)
  case blob([UInt8])
  case null

  init(integerLiteral value: Int64) { self = .integer(value) }
  init(stringLiteral value: String) { self = .text(value) }
  init(nilLiteral: ()) { self = .null }

  static func int(_ value: (some BinaryInteger)?) -> SQLValue { value.map { .integer(Int64($0)) } ?? .null }
  /// An unsigned kernel number, stored with the same bits: SQLite has no unsigned 64-bit integers.
  static func bits(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
  static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
  static func string(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
  static func id(_ value: (some RowID)?) -> SQLValue { value.map { .integer($0.rawValue) } ?? .null }
  static func raw<R: RawRepresentable>(_ value: R?) -> SQLValue where R.RawValue == String { string(value?.rawValue) }
  static func name(_ value: NameBytes?) -> SQLValue { value.map { .blob($0.bytes) } ?? .null }
  static func digest(_ value: Digest?) -> SQLValue { string(value?.description) }
  static func uid(_ value: UID) -> SQLValue {
    .blob([value.high, value.low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
  }
}
