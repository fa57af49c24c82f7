/// How long the periods of a calendar are. All begin at midnight UTC.
package enum CalendarPeriod: String, Sendable, CaseIterable {
  case day
  /// From Monday on.
  case week
  case month

  /// The beginning of the period that contains a moment; both in milliseconds since 1970 UTC.
  package func start(of ms: Int64) -> Int64 { firstDay(of: ms.floored(by: Self.dayMs)) *| Self.dayMs }

  private static let dayMs: Int64 = 86_400_000

  /// Days count from 1970-01-01, a Thursday.
  private func firstDay(of day: Int64) -> Int64 {
    switch self {
    case .day: day
    case .week: day - (day + 3 - (day + 3).floored(by: 7) * 7)
    case .month: day - (Self.dayOfMonth(day) - 1)
    }
  }

  /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  private static func dayOfMonth(_ day: Int64) -> Int64 {
    let shifted = day + 719_468
    let dayOfEra = shifted - shifted.floored(by: 146_097) * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    return dayOfYear - (153 * ((5 * dayOfYear + 2) / 153) + 2) / 5 + 1
  }
}

/// A day, week or month: files count where they ended, attempts where they began, batches where their last one ended.
package struct PeriodRow: Sendable, Hashable {
  /// Its beginning, in milliseconds since 1970 UTC.
  package var fromMs: Int64
  /// Without superseded generations.
  package var files: [FileState: Int] = [:]
  /// Size of the files that are done.
  package var bytes: Int64 = 0
  /// Done files of which the server showed more than success.
  package var verified = 0
  package var flow = AttemptFlow()
  /// Wall time of the longest batch, in milliseconds.
  package var longestBatchMs: Int64?

  package init(fromMs: Int64) { self.fromMs = fromMs }

  package var done: Int { files[.done] ?? 0 }
  package var failed: Int { files[.failed] ?? 0 }
  /// Of the done files, 0 to 1.
  package var verifiedShare: Double? { Share.of(Int64(verified), in: Int64(done)) }
}
