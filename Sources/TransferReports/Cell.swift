import TransferModel

/// One figure with its unit: the same value is shown to people in a table and to programs in JSON.
/// Unknown figures are ``none`` (`null`), never 0.
package enum Cell: Sendable, Hashable {
  case none
  /// Our own text or a server's; escaped when it is displayed.
  case text(String)
  /// A path or key.
  case name(NameBytes)
  case integer(Int64)
  /// NaN and infinities are unknown figures, `null`.
  case real(Double)
  /// A part of a whole, 0 to 1: percent for people, the number itself for programs.
  case share(Double)
  /// The difference of two shares: percentage points for people, the number itself for programs.
  case points(Double)
  /// A change in percent: one decimal for people.
  case percent(Double)
  case flag(Bool)
  /// A size in bytes.
  case bytes(Int64)
  case milliseconds(Int64)
  /// Milliseconds since 1970 UTC.
  case time(Int64)
  case bytesPerSecond(Int64)
  case texts([String: String])
  case counts([String: Int])
  case list([String])

  package init(_ text: String?) { self = text.map(Cell.text) ?? .none }
  package init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .none }
  package init(_ number: Int64?) { self = number.map(Cell.integer) ?? .none }
  package init(bytes: Int64?) { self = bytes.map(Cell.bytes) ?? .none }
  package init(ms: Int64?) { self = ms.map(Cell.milliseconds) ?? .none }
  package init(time: Int64?) { self = time.map(Cell.time) ?? .none }
  package init(bytesPerSecond: Int64?) { self = bytesPerSecond.map(Cell.bytesPerSecond) ?? .none }
}
