import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The tasks of a ``PreparingPool``: all its threads take from it, whoever is free.
final class PreparingQueue: @unchecked Sendable {
  typealias Task = @Sendable () -> Void
  private final class Entry: @unchecked Sendable {
    let number: UInt64
    /// nil once it is taken: what it holds, as an open file, goes with it.
    var task: Task?

    init(_ number: UInt64, _ task: @escaping Task) {
      self.number = number
      self.task = task
    }
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// For the threads that take everything, and for the one that takes only what is short.
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private let needed: UnsafeMutablePointer<pthread_cond_t>
  /// How many threads take everything.
  private let threads: Int
  private var short = FIFO<Entry>()
  private var long = FIFO<Entry>()
  private var lastNumber: UInt64 = 0
  private var longRunning = 0
  private var isClosed = false

  init(threads: Int) {
    self.threads = threads
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    (arrived, needed) = (.allocate(capacity: 1), .allocate(capacity: 1))
    for condition in [arrived, needed] {
      condition.initialize(to: pthread_cond_t())
      pthread_cond_init(condition, nil)
    }
  }

  deinit {
    for condition in [arrived, needed] {
      pthread_cond_destroy(condition)
      condition.deallocate()
    }
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// A task that is short, as far as is known.
  func put(_ task: @escaping Task) { add(task, isLong: false) }

  /// A task that takes long. Put by a task, also after ``close()``: the caller runs it then.
  func putLong(_ task: @escaping Task) {
    if !add(task, isLong: true) { task() }
  }

  /// False when the queue is closed.
  @discardableResult private func add(_ task: @escaping Task, isLong: Bool) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed else { return false }
    lastNumber += 1
    let entry = Entry(lastNumber, task)
    if isLong { long.append(entry) } else { short.append(entry) }
    pthread_cond_signal(arrived)
    if !isLong { callHelp() }
    return true
  }

  /// Runs tasks until the queue is closed and empty. With `onlyShort` it helps while all other threads are at long ones.
  func work(onlyShort: Bool) {
    while let next = onlyShort ? takeShort() : take() {
      next.task()
      guard next.isLong else { continue }
      pthread_mutex_lock(mutex)
      longRunning -= 1
      pthread_mutex_unlock(mutex)
    }
  }

  /// The oldest.
  private func take() -> (task: Task, isLong: Bool)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while short.isEmpty && long.isEmpty && !isClosed { pthread_cond_wait(arrived, mutex) }
    guard let first = long.first, first.number < short.first?.number ?? .max else { return popShort() }
    _ = long.popFirst()
    longRunning += 1
    callHelp()
    defer { first.task = nil }
    return first.task.map { ($0, true) }
  }

  private func takeShort() -> (task: Task, isLong: Bool)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isClosed {
      if longRunning == threads, !short.isEmpty { return popShort() }
      pthread_cond_wait(needed, mutex)
    }
    return nil
  }

  private func popShort() -> (task: Task, isLong: Bool)? {
    guard let entry = short.popFirst() else { return nil }
    defer { entry.task = nil }
    return entry.task.map { ($0, false) }
  }

  private func callHelp() {
    if longRunning == threads && !short.isEmpty { pthread_cond_signal(needed) }
  }

  /// Refuses further tasks; those that were put are run.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(arrived)
    pthread_cond_broadcast(needed)
    pthread_mutex_unlock(mutex)
  }
}
