/// The kind of a figure: its type and unit in every rendering and in the JSON Schemas. Any figure may be unknown.
package enum FigureKind: Sendable, Hashable {
  case text
  /// A path or key: bytes.
  case name
  case integer, real, flag
  /// A size in bytes.
  case bytes
  /// Milliseconds.
  case duration
  /// A moment.
  case time
  /// Bytes a second.
  case rate
  /// Texts by their names, which are not known beforehand.
  case texts
  /// Numbers by their names, which are not known beforehand.
  case counts
  /// Several texts.
  case list

  package var isNumber: Bool {
    switch self {
    case .integer, .real, .bytes, .duration, .rate: true
    case .text, .name, .flag, .time, .texts, .counts, .list: false
    }
  }
}
