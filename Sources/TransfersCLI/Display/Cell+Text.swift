import TransferModel
import TransferReports

extension Cell {
  /// For people: units, local times, hostile bytes escaped.
  var text: String {
    switch self {
    case .none: "-"
    case .text(let text): text.isEmpty ? "-" : printable(text)
    case .name(let name): name.isEmpty ? "-" : name.description
    case .integer(let number): "\(number)"
    case .real(let number): number.isFinite ? Cell.plain(number) : "-"
    case .flag(let flag): flag ? "yes" : "no"
    case .bytes(let count): Quantity.bytes(count)
    case .milliseconds(let ms): Quantity.duration(ms)
    case .time(let ms): Timestamp.local(ms)
    case .bytesPerSecond(let rate): Quantity.bytesPerSecond(rate)
    case .counts(let counts): Cell.texts(counts.mapValues(String.init)).text
    case .texts(let texts):
      texts.isEmpty
        ? "-"
        : texts.sorted { $0.key < $1.key }.map { "\(printable($0.key))=\(printable($0.value))" }
          .joined(separator: " ")
    }
  }

  /// The shortest digits that give the same number again; whole numbers without a point, as JSON encoders write them.
  static func plain(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e15 ? "\(Int64(number))" : "\(number)"
  }

  var isNumber: Bool {
    switch self {
    case .integer, .real, .bytes, .milliseconds, .bytesPerSecond: true
    default: false
    }
  }

  var isName: Bool { if case .name = self { true } else { false } }
}
