import TransferModel

/// A queue of files with something to send, each at most once. A value.
struct FileTurns: Sendable {
  private var queue = FIFO<FileID>()
  private var queued: Set<FileID> = []

  var count: Int { queue.count }

  /// Adds a file to the end of the queue; it keeps its place if it is queued already.
  mutating func append(_ file: FileID) {
    if queued.insert(file).inserted { queue.append(file) }
  }

  mutating func popFirst() -> FileID? {
    guard let file = queue.popFirst() else { return nil }
    queued.remove(file)
    return file
  }
}
