internal import CCurl
internal import Synchronization
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One thread with one multi handle: for one origin and one credential, or for guests (``PoolSet``). This is the
/// interface for other threads.
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
    /// When the thread found that it has no request, by the boot clock; nil while it has one.
    var idleSinceNs: Int64?
  }

  static let purpose = "hold connections"

  private let inbox = Lock(Inbox())
  private let counters = Lock<[ExchangeID: ByteCounter]>([:])
  private let idleLimitNs: Int64
  private let multi: MultiHandle
  private let thread: Lock<WorkerThread?>

  /// Starts the thread, which calls `onEnd` as its last act.
  init(
    _ configuration: CurlConfiguration, limiter: RateLimiter, onEnd: @escaping @Sendable (CurlPool) -> Void
  ) throws(PoolShortage) {
    multi = try MultiHandle(maxIdleConnections: configuration.maxIdleConnections)
    idleLimitNs = configuration.idlePoolMs * 1_000_000
    thread = Lock(nil)
    do throws(TransferError) {
      let worker = try WorkerThread(to: Self.purpose) { [self] in
        Self.blockSignals()
        PoolLoop(self, multi, configuration, limiter).run()
        multi.end()
        onEnd(self)
      }
      thread.withLock { $0 = worker }
    } catch {
      throw .threads(error)
    }
  }

  /// False when the pool is closed: then the command is not executed.
  func put(_ command: Command) -> Bool {
    inbox.withLock {
      guard !$0.isClosed else { return false }
      if case .start = command { $0.idleSinceNs = nil }
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

  /// nil while it has a request.
  var idleSinceNs: Int64? { inbox.withLock(\.idleSinceNs) }

  /// Ends the thread if it has no request; false if it has one.
  func endsIfIdle() -> Bool {
    inbox.withLock {
      guard $0.idleSinceNs != nil, !$0.isClosed else { return $0.isClosed }
      multi.wake()
      $0.isClosed = true
      return true
    }
  }

  /// For the thread of the pool, while it has no request: how long it waits for one, in nanoseconds. nil when it ends:
  /// from then on no command is accepted.
  func idleLeftNs(nowNs: Int64) -> Int64? {
    inbox.withLock {
      guard !$0.isClosed, $0.commands.isEmpty else { return 0 }
      let sinceNs = $0.idleSinceNs ?? nowNs
      $0.idleSinceNs = sinceNs
      guard !$0.isRetired, nowNs - sinceNs < idleLimitNs else {
        $0.isClosed = true
        return nil
      }
      return idleLimitNs - (nowNs - sinceNs)
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
  private var hasEnded = false

  init(maxIdleConnections: Int) throws(PoolShortage) {
    guard let raw = ccurl_multi_init() else { throw .memory }
    // Without descriptors for it libcurl makes a handle that nothing can wake (libcurl 7.88.1).
    guard ccurl_multi_wakeup(raw) == CURLM_OK else {
      ccurl_multi_cleanup(raw)
      throw .descriptors
    }
    self.raw = raw
    share = ccurl_share_init()
    if let share { _ = ccurl_share_set_long(share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue)) }
    _ = ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, maxIdleConnections)
    _ = ccurl_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
  }

  deinit { end() }

  /// Closes its connections and descriptors. All easy handles must have been released before; nothing may wake it
  /// afterwards.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    ccurl_multi_cleanup(raw)
    if let share { ccurl_share_cleanup(share) }
  }

  /// Ends the wait of the owning thread. The only function here that any thread may call.
  func wake() { ccurl_multi_wakeup(raw) }
}
