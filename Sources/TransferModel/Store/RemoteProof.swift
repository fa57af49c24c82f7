/// The findings of queries about the done files of a selection, at their destinations or on the local disk. Counts are
/// files.
package struct RemoteProof: Sendable, Hashable {
  /// A file that could not be proven.
  package struct Doubt: Sendable, Hashable {
    package let file: FileID
    package let outcome: Outcome
    package let detail: String
    package let path: NameBytes

    package init(file: FileID, _ outcome: Outcome, detail: String, path: NameBytes) {
      (self.file, self.outcome, self.detail, self.path) = (file, outcome, detail, path)
    }
  }

  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case different
    case absent
    /// Inconclusive: no possible query, no permission, no answer.
    case inconclusive = "cannot tell"
  }

  /// By the compared property.
  package private(set) var proven: [Confirmation: Int] = [:]
  package private(set) var outcomes: [Outcome: Int] = [:]
  /// At most ``most``, in the order in which they were found.
  package private(set) var doubts: [Doubt] = []
  /// A later upload to the same key is done: the earlier object no longer exists.
  package var replaced = 0
  /// Not queried because of a stop.
  package var left = 0
  /// Doubts that are listed.
  package static let most = 1_000

  package init() {}

  package var provenFiles: Int { proven.values.reduce(0, +) }
  /// Every file of the selection was found.
  package var isProven: Bool { outcomes.values.allSatisfy { $0 == 0 } && left == 0 }
  package var asked: Int { provenFiles + outcomes.values.reduce(0, +) }

  package mutating func count(_ confirmation: Confirmation) { proven[confirmation, default: 0] += 1 }

  package mutating func count(_ doubt: Doubt) {
    outcomes[doubt.outcome, default: 0] += 1
    if doubts.count < Self.most { doubts.append(doubt) }
  }
}
