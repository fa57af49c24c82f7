/// The findings of queries about the done files of a selection, at their destinations or on the local disk. Counts are
/// files.
public struct RemoteProof: Sendable, Hashable {
  /// A file that could not be proven.
  public struct Doubt: Sendable, Hashable {
    public let file: FileID
    public let outcome: Outcome
    public let detail: String
    public let path: NameBytes

    public init(file: FileID, _ outcome: Outcome, detail: String, path: NameBytes) {
      (self.file, self.outcome, self.detail, self.path) = (file, outcome, detail, path)
    }
  }

  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case different
    case absent
    /// Inconclusive: no possible query, no permission, no answer.
    case inconclusive = "cannot tell"
  }

  /// By the compared property.
  public private(set) var proven: [Confirmation: Int] = [:]
  public private(set) var outcomes: [Outcome: Int] = [:]
  /// At most ``most``, in the order in which they were found.
  public private(set) var doubts: [Doubt] = []
  /// A later upload to the same key is done: the earlier object no longer exists.
  public var replaced = 0
  /// Not queried because of a stop.
  public var left = 0
  /// Doubts that are listed.
  public static let most = 1_000

  public init() {}

  public var provenFiles: Int { proven.values.reduce(0, +) }
  /// Every file of the selection was found.
  public var isProven: Bool { outcomes.values.allSatisfy { $0 == 0 } && left == 0 }
  public var asked: Int { provenFiles + outcomes.values.reduce(0, +) }

  public mutating func count(_ confirmation: Confirmation) { proven[confirmation, default: 0] += 1 }

  public mutating func count(_ doubt: Doubt) {
    outcomes[doubt.outcome, default: 0] += 1
    if doubts.count < Self.most { doubts.append(doubt) }
  }
}
