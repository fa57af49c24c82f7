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
    case .flag(let flag): flag ? "yes" : "no"
    case .bytes(let count): Quantity.bytes(count)
    case .milliseconds(let ms): Quantity.duration(ms)
    case .time(let ms): Timestamp.local(ms)
    case .bytesPerSecond(let rate): Quantity.bytesPerSecond(rate)
    case .texts(let texts):
      texts.isEmpty
        ? "-"
        : texts.sorted { $0.key < $1.key }.map { "\(printable($0.key))=\(printable($0.value))" }
          .joined(separator: " ")
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .bytes, .milliseconds, .bytesPerSecond: true
    default: false
    }
  }

  var isName: Bool { if case .name = self { true } else { false } }
}
