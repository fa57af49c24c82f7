import TransferModel
import TransferProtocols

/// A digest of bytes that arrive in order on one thread and are digested by others, because that takes longer than
/// passing them on. While these are busy, up to ``most`` bytes wait; then the thread that brings them digests them
/// itself.
final class BodyDigest: Sendable {
  /// Runs a task on another thread, soon.
  typealias Threads = @Sendable (@escaping @Sendable () -> Void) -> Void

  static let most = 512 << 10

  private struct Waiting {
    var pieces: [[UInt8]] = []
    var count = 0
    /// A thread digests them, or was asked to.
    var isOrdered = false

    /// What waits; after nothing, the next bytes need an order.
    mutating func take() -> [[UInt8]] {
      let taken = pieces
      isOrdered = !taken.isEmpty
      (pieces, count) = ([], 0)
      return taken
    }
  }

  private let waiting = Lock(Waiting())
  /// Held by the thread that digests.
  private let running: Lock<RunningDigest>
  private let threads: Threads

  init(_ algorithm: DigestAlgorithm, _ threads: @escaping Threads) {
    running = Lock(RunningDigest(algorithm))
    self.threads = threads
  }

  /// Copies the next bytes. Blocks while too many wait.
  func add(_ bytes: UnsafeRawBufferPointer) {
    let piece = Array(bytes)
    let (isFirst, isBehind) = waiting.withLock { waiting in
      defer { waiting.isOrdered = true }
      waiting.pieces.append(piece)
      waiting.count += piece.count
      return (!waiting.isOrdered, waiting.count > Self.most)
    }
    if isBehind { digestAll() } else if isFirst { threads { [self] in digestAll() } }
  }

  /// The digest of all bytes so far.
  func finish() -> Digest {
    digestAll()
    return running.withLock { $0.finish() }
  }

  private func digestAll() {
    running.withLock { digest in
      while true {
        let pieces = waiting.withLock { $0.take() }
        if pieces.isEmpty { return }
        for piece in pieces { piece.withUnsafeBytes { digest.update($0) } }
      }
    }
  }
}
