import TransferModel

/// Which file queries the abilities of a destination: only one does, and the others wait for its answer. A value.
struct Discovery: Sendable {
  private var asking: FileID?
  private var waiting: [FileID] = []

  /// The request of this file queries the abilities.
  mutating func begin(_ file: FileID) { asking = file }

  /// Whether the file waits for the answer to another one's request.
  mutating func holds(_ file: FileID) -> Bool {
    guard let asking, asking != file else { return false }
    waiting.append(file)
    return true
  }

  /// The query has ended, with any result. Returns the files that may continue, to be advanced after its own file.
  mutating func end() -> [FileID] {
    defer { (asking, waiting) = (nil, []) }
    return waiting
  }
}
