#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A value behind a `pthread_mutex`. Used instead of `Synchronization.Mutex`, for which the thread sanitizer of Swift
/// 6.3.1 on Linux reports false races.
package final class Lock<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: sending Value) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    self.value = value
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` while holding the lock. It must not block and must not take this lock again.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}

/// A queue between threads: many producers, one consumer that takes all elements at once.
package final class Mailbox<Element: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var elements: [Element] = []
  private var isClosed = false

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    arrived = .allocate(capacity: 1)
    arrived.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    #if canImport(Glibc)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    #endif
    pthread_cond_init(arrived, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(arrived)
    pthread_mutex_destroy(mutex)
    arrived.deallocate()
    mutex.deallocate()
  }

  /// Adds one element and wakes the consumer. False if the mailbox is closed; the element is then dropped.
  @discardableResult
  package func put(_ element: Element) -> Bool { put(contentsOf: CollectionOfOne(element)) }

  /// The same with several, which are taken together.
  @discardableResult
  package func put(contentsOf added: some Collection<Element>) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed else { return false }
    if elements.isEmpty, !added.isEmpty { pthread_cond_signal(arrived) }
    elements.append(contentsOf: added)
    return true
  }

  /// Refuses further elements and wakes the consumer.
  package func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(arrived)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for elements and takes all of them in order; nil when the mailbox is closed and empty. With a timeout
  /// (milliseconds, at least 0) it returns an empty array if nothing arrived.
  package func take(timeoutMs: Int64? = nil) -> [Element]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var deadline = timespec()
    if let timeoutMs { deadline = Self.deadline(afterMs: timeoutMs) }
    while elements.isEmpty && !isClosed {
      if timeoutMs == nil {
        pthread_cond_wait(arrived, mutex)
      } else if pthread_cond_timedwait(arrived, mutex, &deadline) != 0 {
        break
      }
    }
    if elements.isEmpty { return isClosed ? nil : [] }
    var taken: [Element] = []
    swap(&taken, &elements)
    return taken
  }

  private static func deadline(afterMs ms: Int64) -> timespec {
    var now = timespec()
    #if canImport(Glibc)
      clock_gettime(CLOCK_MONOTONIC, &now)
    #else
      clock_gettime(CLOCK_REALTIME, &now)
    #endif
    let nanoseconds = Int64(now.tv_nsec) + (ms % 1000) * 1_000_000
    return timespec(
      tv_sec: now.tv_sec + Int(ms / 1000 + nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

/// An operating-system thread for blocking work, which must not run in a Swift task.
package final class WorkerThread: @unchecked Sendable {
  private var thread = pthread_t()
  private var isJoined = false

  /// Starts `body` on a new thread. Throws `config` if the system has none to give: then `body` does not run.
  /// - Parameter name: what the thread does, for the error: `deliver callbacks`.
  package init(to name: String, _ body: @escaping @Sendable () -> Void) throws(TransferError) {
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(&thread, nil, Self.enter, box.toOpaque())
    guard status != 0 else { return }
    box.release()
    throw TransferError(
      .config, "start a thread to", NameBytes(name), cause: systemText(status),
      remedy: "raise the limit of processes and threads (ulimit -u), or end other programs")
  }

  /// The same for tests and tools, which end if there is no thread.
  package convenience init(_ body: @escaping @Sendable () -> Void) {
    do throws(TransferError) { try self.init(to: "test", body) } catch { preconditionFailure("\(error)") }
  }

  /// Waits for the end of the thread; once, from another thread.
  package func join() {
    guard !isJoined else { return }
    isJoined = true
    pthread_join(thread, nil)
  }

  /// Lets the thread end without being joined. Instead of ``join()``.
  package func detach() {
    guard !isJoined else { return }
    isJoined = true
    pthread_detach(thread)
  }

  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  #if canImport(Glibc)
    private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
      Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }
  #else
    private static let enter: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
      Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }
  #endif
}
