import TransferReports
import TransferModel
import Transfers

/// Limits messages about single files: the first ones are printed, the others only counted, so that a thousand failures
/// do not print a thousand lines.
struct NoticeLimit: Sendable {
  static let lines = 20

  private var told = 0
  /// Suppressed words, in the order in which they first appeared.
  private var counted: [(word: String, files: Int)] = []

  enum Outcome: Equatable {
    case tell
    /// The first suppressed notice.
    case stop
    case count
  }

  /// What becomes of a notice. Notices that are not about the outcome of a file are always printed.
  mutating func take(_ notice: Notice) -> Outcome {
    guard let word = Self.word(notice) else { return .tell }
    guard told >= Self.lines else {
      told += 1
      return .tell
    }
    let isFirst = counted.isEmpty
    if let known = counted.firstIndex(where: { $0.word == word }) {
      counted[known].files += 1
    } else {
      counted.append((word, 1))
    }
    return isFirst ? .stop : .count
  }

  /// `not shown: 480 failed, 3 unknown; "transfers list files --state failed,unknown" lists them`; nil if nothing was
  /// suppressed.
  mutating func takeRest() -> String? {
    guard !counted.isEmpty else { return nil }
    defer { counted = [] }
    let listed = counted.map(\.word).filter { $0 == "failed" || $0 == "unknown" }.sorted()
    let listing = listed.isEmpty ? "" : "; \"transfers list files --state \(listed.joined(separator: ","))\" lists them"
    return "not shown: " + counted.map { "\($0.files) \($0.word)" }.joined(separator: ", ") + listing
  }

  private static func word(_ notice: Notice) -> String? {
    switch notice {
    case .failed: "failed"
    case .unknown: "unknown"
    case .skipped: "skipped"
    case .tooLong: "longer than --max-bytes"
    case .waiting: "waiting for the next run"
    case .sourceChanged: "changed while they were sent"
    case .noted: "fetched completely"
    case .retrying: "kinds of retry"
    case .remark, .planned, .excluded, .recovered, .draining, .diskTrouble, .circuitOpened, .circuitClosed,
      .waitingForCredential:
      nil
    }
  }
}
