import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The task queue of a ``PreparingPool``, shared by all its threads.
final class PreparingQueue: @unchecked Sendable {
  typealias Task = @Sendable () -> Void

  /// The file that a long task reads.
  struct LongRead: Sendable {
    var file: ObjectIdentifier
    /// Other long reads of the same file would only wait for it.
    var isAlone: Bool
  }

  /// Which tasks a thread runs, and when.
  enum Role {
    case always
    /// Works while all regular threads are busy with long tasks: also on long tasks of other files.
    case reserve
    /// Works while the reserve is busy with one too, or does not exist: only on short tasks.
    case short
  }

  private final class Entry: @unchecked Sendable {
    let number: UInt64
    let read: LongRead?
    /// nil once it is taken, so that the resources it holds, such as an open file, are released with it.
    var task: Task?

    init(_ number: UInt64, _ read: LongRead?, _ task: @escaping Task) {
      self.number = number
      self.read = read
      self.task = task
    }
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Conditions of the regular threads, and of the others.
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private let needed: UnsafeMutablePointer<pthread_cond_t>
  private let threads: Int
  private let hasReserve: Bool
  private var short = FIFO<Entry>()
  private var long = FIFO<Entry>()
  private var lastNumber: UInt64 = 0
  private var longRunning = 0
  /// The files being read, with the number of readers.
  private var filesRunning: [ObjectIdentifier: Int] = [:]
  private var isClosed = false

  /// - Parameter threads: the number of regular threads.
  init(threads: Int, hasReserve: Bool) {
    self.threads = threads
    self.hasReserve = hasReserve
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

  /// Adds a task that is short, as far as known.
  func put(_ task: @escaping Task) { add(task, nil) }

  /// Adds a long task. A task may add it even after ``close()``: the caller then runs it.
  func put(_ read: LongRead, _ task: @escaping Task) {
    if !add(task, read) { task() }
  }

  /// False when the queue is closed.
  @discardableResult private func add(_ task: @escaping Task, _ read: LongRead?) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed else { return false }
    lastNumber += 1
    let entry = Entry(lastNumber, read, task)
    if read == nil { short.append(entry) } else { long.append(entry) }
    pthread_cond_signal(arrived)
    callHelp()
    return true
  }

  /// Runs tasks until the queue is closed and empty.
  func work(_ role: Role) {
    while let (task, read) = role == .always ? take() : takeAsHelp(role) {
      task()
      if let read { ended(read) }
    }
  }

  // MARK: - Taking

  private typealias Taken = (task: Task, read: LongRead?)

  private func take() -> Taken? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let next = oldest(.always) { return next }
      if isClosed && long.isEmpty { return nil }
      pthread_cond_wait(arrived, mutex)
    }
  }

  private func takeAsHelp(_ role: Role) -> Taken? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isClosed {
      if longRunning >= threads + (role == .short && hasReserve ? 1 : 0), let next = oldest(role) { return next }
      pthread_cond_wait(needed, mutex)
    }
    return nil
  }

  private func oldest(_ role: Role) -> Taken? {
    let ready = role == .short || long.isEmpty ? nil : long.first { mayRun($0, role) }
    if let ready, ready.number < short.first?.number ?? .max { return takeLong(ready) }
    return short.popFirst().flatMap(Self.taken)
  }

  private func mayRun(_ entry: Entry, _ role: Role) -> Bool {
    guard let read = entry.read, filesRunning[read.file] != nil else { return true }
    return role == .always && !read.isAlone
  }

  private func takeLong(_ entry: Entry) -> Taken? {
    _ = long.popFirst { $0 === entry }
    longRunning += 1
    if let read = entry.read { filesRunning[read.file, default: 0] += 1 }
    callHelp()
    return Self.taken(entry)
  }

  private static func taken(_ entry: Entry) -> Taken? {
    defer { entry.task = nil }
    return entry.task.map { ($0, entry.read) }
  }

  private func ended(_ read: LongRead) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    longRunning -= 1
    let left = (filesRunning[read.file] ?? 1) - 1
    filesRunning[read.file] = left > 0 ? left : nil
    // Tasks that waited for it may run now; if the queue is closed, waiting threads end.
    pthread_cond_broadcast(arrived)
  }

  private func callHelp() {
    if longRunning >= threads && !(short.isEmpty && long.isEmpty) { pthread_cond_broadcast(needed) }
  }

  /// Refuses further tasks; queued ones are still run.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(arrived)
    pthread_cond_broadcast(needed)
    pthread_mutex_unlock(mutex)
  }
}
