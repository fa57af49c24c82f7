import TransferModel

/// Obtains the URLs of files, several concurrently, and once for all requests of a file that need it. Results are
/// delivered on its own threads.
final class FreshURLs: Sendable {
  typealias Answer = Result<String, Failure>

  private struct State {
    var pool: PreparingPool?
    var isOver = false
    /// Files whose URLs are no longer needed: a person paused or cancelled them, or their batch is over.
    var givenUp: Set<FileID> = []
    /// The callers waiting for the URL of each file that is being obtained.
    var waiting: [FileID: [@Sendable (Answer) -> Void]] = [:]
  }

  /// Concurrent commands: most of them wait for a server.
  private static let atOnce = 8

  private let state = Lock(State())
  /// Set when the run ends and results are no longer needed.
  private let stop: ReadStop

  init(_ stop: ReadStop) { self.stop = stop }

  /// Calls `then` with a URL for the file.
  func get(_ file: FileID, _ key: NameBytes, from source: any URLSource, then: @escaping @Sendable (Answer) -> Void) {
    let pool: PreparingPool?
    do throws(TransferError) {
      pool = try state.withLock { state throws(TransferError) -> PreparingPool? in
        state.waiting[file, default: []].append(then)
        guard state.waiting[file]?.count == 1 else { return nil }
        if state.pool == nil { state.pool = try PreparingPool(threadCount: Self.atOnce) }
        return state.pool
      }
    } catch {
      return tell(.failure(Failure(.localFDLimit, "\(error)")), file)
    }
    pool?.wait({ [self] in ask(file, key, source) }, then: { [self] answer in tell(answer, file) })
  }

  private func ask(_ file: FileID, _ key: NameBytes, _ source: any URLSource) -> Answer {
    let isOver: @Sendable () -> Bool = { [self] in
      stop.isAsked() || state.withLock { $0.isOver || $0.givenUp.contains(file) }
    }
    return Result { () throws(Failure) in
      if isOver() { throw Failure(.engineInterrupted, "stopped before the URL was requested") }
      return try source.url(for: key, isOver: isOver)
    }
  }

  private func tell(_ answer: Answer, _ file: FileID) {
    let waiting = state.withLock { state in
      state.givenUp.remove(file)
      return state.waiting.removeValue(forKey: file)
    }
    for then in waiting ?? [] { then(answer) }
  }

  /// Nothing more is sent for the file: its pending query ends soon, as interrupted.
  func giveUp(_ file: FileID) {
    state.withLock { state in
      if state.waiting[file] != nil { state.givenUp.insert(file) }
    }
  }

  /// Ends running queries and the threads. Blocking.
  func end() {
    let pool = state.withLock { state in
      state.isOver = true
      return state.pool
    }
    pool?.stop()
  }
}
