import TransferModel
import TransferProtocols

/// Supplies requests with the credentials of their destinations: cached ones at once, others on its own threads, so
/// that a slow program or service does not delay other destinations. A source is queried once for all waiting requests,
/// and again if that may help: a service that is unavailable for some minutes does not end a run.
final class FreshCredentials: Sendable {
  typealias Answer = Result<Credential?, Failure>

  private struct Waiter {
    /// nil for a request without a file.
    var file: FileID?
    var then: @Sendable (Answer) -> Void
  }

  private struct State {
    var pool: PreparingPool?
    var isOver = false
    /// The callers waiting for each source that is being queried; empty for a renewal without callers.
    var waiting: [ObjectIdentifier: [Waiter]] = [:]
  }

  /// Sources queried concurrently: most of them wait for a server.
  private static let atOnce = 16
  /// Interval between checks whether the result is still needed, in milliseconds.
  private static let lookMs: Int64 = 100

  private let state = Lock(State())
  private let clock: any TransferClock
  /// How long a source that may have an answer later is retried, in milliseconds.
  private let patienceMs: Int64
  private let notice: @Sendable (Notice) -> Void
  /// Set when the run ends and results are no longer needed.
  private let stop: ReadStop

  init(
    _ clock: any TransferClock, patienceMs: Int64, _ stop: ReadStop, notice: @escaping @Sendable (Notice) -> Void
  ) {
    (self.clock, self.patienceMs, self.stop, self.notice) = (clock, patienceMs, stop, notice)
  }

  /// Calls `then` with the credential: on this thread if it is cached, else on another.
  func get(
    from source: any CredentialSource, for file: FileID? = nil, then: @escaping @Sendable (Answer) -> Void
  ) {
    guard let held = source.held else { return ask(source, [Waiter(file: file, then: then)]) }
    if held.isDue { ask(source, []) }
    then(.success(held.credential))
  }

  private func ask(_ source: any CredentialSource, _ waiters: [Waiter]) {
    let key = ObjectIdentifier(source)
    let pool: PreparingPool?
    do throws(TransferError) {
      pool = try state.withLock { state throws(TransferError) -> PreparingPool? in
        let isBeingAsked = state.waiting[key] != nil
        state.waiting[key, default: []] += waiters
        guard !isBeingAsked else { return nil }
        if state.pool == nil { state.pool = try PreparingPool(threadCount: Self.atOnce) }
        return state.pool
      }
    } catch {
      return tell(.failure(Failure(.localFDLimit, "\(error)")), key)
    }
    pool?.wait({ [self] in patiently(source) }, then: { [self] answer in tell(answer, key) })
  }

  private func patiently(_ source: any CredentialSource) -> Answer {
    let endMs = clock.bootMs + patienceMs
    var isTold = false
    while true {
      let answer = Result { () throws(Failure) in
        if isOver() { throw Failure(.engineInterrupted, "stopped before the credential was requested") }
        return try source.credential(isOver: isOver)
      }
      guard case .failure(let failure) = answer, let waitMs = failure.retryAfterMs, clock.bootMs + waitMs < endMs else {
        return answer
      }
      if !isTold { notice(.waitingForCredential(failure, mostMs: patienceMs)) }
      isTold = true
      sleep(waitMs)
    }
  }

  private func sleep(_ ms: Int64) {
    let endMs = clock.bootMs + ms
    while !isOver(), clock.bootMs < endMs { _ = Mailbox<Bool>().take(timeoutMs: clock.machineMs(Self.lookMs)) }
  }

  @Sendable private func isOver() -> Bool { stop.isAsked() || state.withLock { $0.isOver } }

  private func tell(_ answer: Answer, _ key: ObjectIdentifier) {
    let waiting = state.withLock { $0.waiting.removeValue(forKey: key) }
    for waiter in waiting ?? [] { waiter.then(answer) }
  }

  /// Ends the wait of the file's requests at once, as interrupted: nothing more is sent for the file.
  func giveUp(_ file: FileID) {
    let givenUp = state.withLock { state in
      var givenUp: [Waiter] = []
      for (key, waiters) in state.waiting where waiters.contains(where: { $0.file == file }) {
        givenUp += waiters.filter { $0.file == file }
        state.waiting[key] = waiters.filter { $0.file != file }
      }
      return givenUp
    }
    let interrupted = Failure(.engineInterrupted, "stopped while waiting for the credential")
    for waiter in givenUp { waiter.then(.failure(interrupted)) }
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
