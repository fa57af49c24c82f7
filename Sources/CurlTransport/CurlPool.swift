internal import CCurl
internal import Synchronization
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One thread with one multi handle, for one origin and one credential. This is the interface for other threads.
final class CurlPool: Sendable {
  enum Command: Sendable {
    case start(Order)
    case cancel(ExchangeID)
  }

  /// What the thread of the pool takes at the beginning of an iteration.
  struct Inbox {
    var commands: [Command] = []
    var isClosed = false
    /// To be closed after the last request.
    var isRetired = false
  }

  private let inbox = Lock(Inbox())
  private let counters = Lock<[ExchangeID: ByteCounter]>([:])
  private let multi: MultiHandle
  private let thread: Lock<WorkerThread?>

  /// Starts the thread. nil when libcurl has no memory for a multi handle.
  init?(_ configuration: CurlConfiguration, limiter: RateLimiter) {
    guard let multi = MultiHandle(maxIdleConnections: configuration.maxIdleConnections) else { return nil }
    self.multi = multi
    thread = Lock(nil)
    let worker = WorkerThread { [self] in
      Self.blockSignals()
      PoolLoop(self, multi, configuration, limiter).run()
    }
    thread.withLock { $0 = worker }
  }

  /// False when the pool is closed: then the command is not executed.
  func put(_ command: Command) -> Bool {
    inbox.withLock {
      guard !$0.isClosed else { return false }
      $0.commands.append(command)
      // Later commands of the same iteration need no second wake-up.
      if $0.commands.count == 1 { multi.wake() }
      return true
    }
  }

  /// Makes the thread check the rate again.
  func wake() {
    inbox.withLock {
      if !$0.isClosed { multi.wake() }
    }
  }

  /// Refuses further commands, and makes the thread cancel its requests.
  func close() {
    inbox.withLock {
      if !$0.isClosed { multi.wake() }
      $0.isClosed = true
    }
  }

  /// Ends the thread after its last request.
  func retire() {
    inbox.withLock {
      if !$0.isClosed { multi.wake() }
      $0.isRetired = true
    }
  }

  /// A retired pool has executed its last request: ``join()`` returns at once.
  var hasEnded: Bool { inbox.withLock { $0.isRetired && $0.isClosed } }

  /// For the thread of the pool, while it has no request: whether it ends.
  func closesIfRetired() -> Bool {
    inbox.withLock {
      guard $0.isRetired, $0.commands.isEmpty else { return false }
      $0.isClosed = true
      return true
    }
  }

  /// Waits for the end of the thread. Call it after ``close()``, from another thread.
  func join() { thread.withLock { $0.take() }?.join() }

  func bytesInFlight() -> [ExchangeID: Int64] {
    counters.withLock { $0.mapValues { $0.value.load(ordering: .relaxed) } }
  }

  /// For the thread of the pool.
  func takeCommands() -> Inbox {
    inbox.withLock {
      var taken = Inbox(isClosed: $0.isClosed)
      swap(&taken.commands, &$0.commands)
      return taken
    }
  }

  /// For the thread of the pool; nil removes the counter.
  func publish(_ counter: ByteCounter?, for id: ExchangeID) { counters.withLock { $0[id] = counter } }

  /// Signals are handled by the program's own threads. Also, OpenSSL writes without MSG_NOSIGNAL, so that a peer that
  /// has closed the connection would end the process with SIGPIPE. Source: CURLOPT_NOSIGNAL(3).
  private static func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, nil)
  }
}

/// The multi handle, and the data that its easy handles share.
final class MultiHandle: @unchecked Sendable {
  let raw: UnsafeMutableRawPointer
  /// Shares TLS sessions: without it, 7.88.1 keeps them for each easy handle separately. Needs no locks, because one
  /// thread uses it.
  let share: UnsafeMutableRawPointer?

  init?(maxIdleConnections: Int) {
    guard let raw = ccurl_multi_init() else { return nil }
    self.raw = raw
    share = ccurl_share_init()
    if let share { _ = ccurl_share_set_long(share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue)) }
    _ = ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, maxIdleConnections)
    _ = ccurl_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
  }

  /// All easy handles must have been released before.
  deinit {
    ccurl_multi_cleanup(raw)
    if let share { ccurl_share_cleanup(share) }
  }

  /// Ends the wait of the owning thread. The only function here that any thread may call.
  func wake() { ccurl_multi_wakeup(raw) }
}
