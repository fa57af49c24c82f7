import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The child processes of the daemon, and the pipe that closes when the daemon ends.
final class DaemonCrew {
  private var running: [String: ChildProgram] = [:]
  /// Those that only record new files of running jobs, by job.
  private var recording: [String: ChildProgram] = [:]
  private var engine: ChildProgram?
  /// Engines that have ended, and wait for callbacks.
  private var lingering: [ChildProgram] = []
  private let ends: (read: Int32, write: Int32)

  init() throws(CommandFailure) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
      throw CommandFailure(
        .error, "make a pipe: \(printable(systemText(errno)))", remedy: "see ulimit -n")
    }
    self.ends = (ends[0], ends[1])
  }

  deinit {
    close(ends.read)
    close(ends.write)
  }

  /// The names of the running jobs.
  var jobs: Set<String> { Set(running.keys) }
  var hasEngine: Bool { engine != nil }
  var isEmpty: Bool { all.isEmpty }

  func has(_ pid: Int64) -> Bool { all.contains { $0.pid == pid } }

  private var all: [ChildProgram] {
    Array(running.values) + Array(recording.values) + (engine.map { [$0] } ?? []) + lingering
  }

  /// The process of the engine, to compare with runs.
  var enginePID: Int64? { engine.map { Int64($0.pid) } }

  /// Its run has ended and its lock is released, so that the next engine may start while it waits for callbacks.
  func setEngineAside() {
    guard let engine else { return }
    lingering.append(engine)
    self.engine = nil
  }

  /// What all children are told: to be quiet, and the ledger.
  static func terms(_ ledger: OpenStore) -> [String] {
    ["--quiet", "--store", EscapedArgument.encode(Array(ledger.path.utf8))]
  }

  /// - Parameter job: nil for an engine.
  func start(_ job: String?, _ words: [String], _ held: HeldConfig) throws(ChildFailure) {
    let child = try ChildProgram(
      words, lifeline: ends.read, environment: Self.environment(held), keeping: held.descriptors)
    if let job { running[job] = child } else { engine = child }
  }

  /// Starts a child that only records the new files of a running job.
  func startRecording(_ job: String, _ words: [String], _ held: HeldConfig) throws(ChildFailure) {
    let variables = Self.environment(held) + [Array("\(JobRecordings.variable)=1".utf8CString)]
    recording[job] = try ChildProgram(
      words, lifeline: ends.read, environment: variables, keeping: held.descriptors)
  }

  /// The variables of the children: those meant only for the daemon are removed.
  private static func environment(_ held: HeldConfig) -> [[CChar]] {
    let own = [
      "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", HeldConfig.variable, DaemonLifeline.variable,
      JobRecordings.variable,
    ]
    var variables: [[CChar]] = []
    var pointer = environ
    while let variable = pointer.pointee {
      let bytes = Array(UnsafeBufferPointer(start: variable, count: strlen(variable)))
      let name = String(decoding: bytes.prefix { $0 != 0x3D }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if !own.contains(name) { variables.append(bytes + [0]) }
      pointer += 1
    }
    let held = EscapedArgument.decode(held.note).map { CChar(bitPattern: $0) }
    variables.append(Array("\(HeldConfig.variable)=".utf8).map { CChar(bitPattern: $0) } + held + [0])
    variables.append(Array("\(DaemonLifeline.variable)=1".utf8CString))
    return variables
  }

  /// A child that has ended; `isAside` for an engine that was set aside before, and for a recording of a job.
  typealias Ended = (job: String?, code: Int32, isAside: Bool)

  /// Returns the children that have ended since the last call.
  func reap() -> [Ended] {
    var ended: [Ended] = []
    for (name, child) in running {
      guard let code = child.ended() else { continue }
      running[name] = nil
      ended.append((name, code, false))
    }
    for (name, child) in recording {
      guard let code = child.ended() else { continue }
      recording[name] = nil
      ended.append((name, code, true))
    }
    lingering.removeAll { child in
      guard let code = child.ended() else { return false }
      ended.append((nil, code, true))
      return true
    }
    if let code = engine?.ended() {
      engine = nil
      ended.append((nil, code, false))
    }
    return ended
  }

  func signal(_ number: Int32) {
    for child in all { child.signal(number) }
  }
}
