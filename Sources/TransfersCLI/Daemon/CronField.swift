/// One field of a cron expression: numbers, names, ranges, steps and lists of them.
struct CronField: Hashable, Sendable {
  enum Kind: String, Sendable {
    case minute, hour
    case day = "day of the month"
    case month
    case weekday = "day of the week"

    var range: ClosedRange<Int> {
      switch self {
      case .minute: 0...59
      case .hour: 0...23
      case .day: 1...31
      case .month: 1...12
      // Both 0 and 7 are Sunday.
      case .weekday: 0...7
      }
    }

    fileprivate var names: [String] {
      switch self {
      case .minute, .hour, .day: []
      case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
      case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
      }
    }
  }

  /// Whether the field begins with `*`.
  let isOpen: Bool
  private var bits: UInt64 = 0

  func contains(_ number: Int) -> Bool { bits & 1 << UInt64(number) != 0 }

  init(_ text: String, _ kind: Kind) throws(CronFault) {
    isOpen = text.hasPrefix("*")
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      let range = try Self.range(pieces[0], kind)
      var step = 1
      if pieces.count > 1 {
        guard pieces.count == 2, pieces[0] == "*" || pieces[0].contains("-"), let number = Self.number(pieces[1]),
          number > 0
        else { throw Self.fault(String(part), kind, "a step must be */N or A-B/N, and N not 0") }
        step = number
      }
      for number in stride(from: range.lowerBound, through: range.upperBound, by: step) {
        bits |= 1 << UInt64(kind == .weekday && number == 7 ? 0 : number)
      }
    }
  }

  private static func range(_ text: String, _ kind: Kind) throws(CronFault) -> ClosedRange<Int> {
    if text == "*" { return kind == .weekday ? 0...6 : kind.range }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let first = try value(ends[0], kind)
    let last = ends.count == 2 ? try value(ends[1], kind) : first
    guard first <= last else { throw fault(text, kind, "a range must begin with its smaller value") }
    return first...last
  }

  private static func value(_ text: String, _ kind: Kind) throws(CronFault) -> Int {
    if let index = kind.names.firstIndex(of: text.lowercased()) { return index + (kind == .month ? 1 : 0) }
    guard let number = number(text), kind.range.contains(number) else {
      let names = kind.names.first.map { ", or names like \"\($0)\"" } ?? ""
      throw fault(text, kind, "it takes \(kind.range.lowerBound) to \(kind.range.upperBound)\(names)")
    }
    return number
  }

  private static func number(_ text: String) -> Int? {
    text.utf8.count <= 2 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func fault(_ text: String, _ kind: Kind, _ why: String) -> CronFault {
    CronFault("\"\(text)\" is not a valid \(kind.rawValue) of a cron expression: \(why)")
  }
}
