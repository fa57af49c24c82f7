import TransferModel

extension Cell {
  /// For people: units, local times, hostile bytes escaped.
  package var text: String {
    switch self {
    case .none: "-"
    case .text(let text): text.isEmpty ? "-" : printable(text)
    case .name(let name): name.isEmpty ? "-" : name.description
    case .integer(let number): "\(number)"
    case .real(let number): number.isFinite ? Cell.plain(number) : "-"
    case .share(let share): share.isFinite ? Quantity.percent(share) : "-"
    case .points(let points): points.isFinite ? Quantity.points(points) : "-"
    case .percent(let percent): percent.isFinite ? Quantity.roundedPercent(percent) : "-"
    case .flag(let flag): flag ? "yes" : "no"
    case .bytes(let count): Quantity.bytes(count)
    case .milliseconds(let ms): Quantity.duration(ms)
    case .time(let ms): Timestamp.zoned(ms)
    case .bytesPerSecond(let rate): Quantity.bytesPerSecond(rate)
    case .counts(let counts): Cell.texts(counts.mapValues(String.init)).text
    case .list(let texts): texts.isEmpty ? "-" : texts.map(printable).joined(separator: ", ")
    case .texts(let texts):
      texts.isEmpty
        ? "-"
        : texts.sorted { $0.key < $1.key }.map { "\(printable($0.key))=\(printable($0.value))" }
          .joined(separator: " ")
    }
  }

  /// For programs: numbers are plain, times RFC 3339 UTC, unknown figures empty, labels a JSON object.
  package var plainText: String {
    switch self {
    case .none: ""
    case .text(let text): text
    case .name(let name): String(decoding: name.bytes, as: UTF8.self)
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number):
      String(number)
    case .real(let number), .share(let number), .points(let number), .percent(let number):
      number.isFinite ? Cell.plain(number) : ""
    case .flag(let flag): flag ? "true" : "false"
    case .time(let ms): Timestamp.rfc3339(ms)
    case .texts, .counts, .list: JSONWriter.text(self)
    }
  }

  /// The shortest digits that parse to the same number; whole numbers without a decimal point, as in JSON encoders.
  package static func plain(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e15 ? "\(Int64(number))" : "\(number)"
  }

  package var isNumber: Bool {
    switch self {
    case .integer, .real, .share, .points, .percent, .bytes, .milliseconds, .bytesPerSecond: true
    default: false
    }
  }

  package var isName: Bool { if case .name = self { true } else { false } }
}
