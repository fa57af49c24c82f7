import TransferModel

/// The head of a log at one size, in the form that is signed: https://c2sp.org/tlog-checkpoint
public struct Checkpoint: Sendable, Hashable {
  /// The identity of the log.
  public let origin: String
  /// The number of leaves.
  public let size: Int64
  public let head: TreeHash

  public init(origin: String, size: Int64, head: TreeHash) {
    (self.origin, self.size, self.head) = (origin, size, head)
  }

  /// Reads the text of a note; nil when it is not a checkpoint. Extension lines are ignored.
  public init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines.last == "", lines.dropLast().allSatisfy({ !$0.isEmpty }),
      let size = Int64(lines[1]), size >= 0, String(size) == lines[1],
      let head = bytesFromBase64(String(lines[2])).flatMap({ TreeHash($0) })
    else { return nil }
    self.init(origin: String(lines[0]), size: size, head: head)
  }

  public var text: String { "\(origin)\n\(size)\n\(base64(head.bytes))\n" }
}

/// A proof that an entry is in a log, in the form of https://c2sp.org/tlog-proof.
public struct InclusionProof: Sendable, Hashable {
  public let index: Int64
  public let path: [TreeHash]
  /// The signed checkpoint.
  public let note: String

  public init(index: Int64, path: [TreeHash], note: String) {
    (self.index, self.path, self.note) = (index, path, note)
  }

  public var description: String {
    "c2sp.org/tlog-proof@v1\nindex \(index)\n" + path.map { base64($0.bytes) + "\n" }.joined() + "\n" + note
  }
}
