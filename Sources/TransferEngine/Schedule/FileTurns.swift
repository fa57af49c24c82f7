import TransferModel

/// Files that have something to send, in turn; each stands there once. A value.
struct FileTurns: Sendable {
  private var queue = FIFO<FileID>()
  private var queued: Set<FileID> = []

  var count: Int { queue.count }

  /// Goes to the end of the queue; keeps its place when it stands there already.
  mutating func append(_ file: FileID) {
    if queued.insert(file).inserted { queue.append(file) }
  }

  mutating func popFirst() -> FileID? {
    guard let file = queue.popFirst() else { return nil }
    queued.remove(file)
    return file
  }
}
