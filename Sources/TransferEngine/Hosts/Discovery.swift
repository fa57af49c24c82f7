import TransferModel

/// Who asks what a destination can do: one file does, and the others wait for the answer instead of asking too. A
/// value.
struct Discovery: Sendable {
  private var asking: FileID?
  private var waiting: [FileID] = []

  /// The request of this file asks.
  mutating func begin(_ file: FileID) { asking = file }

  /// Whether the file waits for the answer to another one's request.
  mutating func holds(_ file: FileID) -> Bool {
    guard let asking, asking != file else { return false }
    waiting.append(file)
    return true
  }

  /// The request that asked has ended, whatever came of it. Returns the files that may go on, to be advanced after its
  /// own.
  mutating func end() -> [FileID] {
    defer { (asking, waiting) = (nil, []) }
    return waiting
  }
}
