import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// This program again, as a child that runs one command of the daemon: in its own process group, with the daemon's
/// standard error, and with a pipe as standard input that closes when the daemon ends (``DaemonLifeline``).
struct ChildProgram: Sendable {
  let pid: pid_t

  /// - Parameters:
  /// - lifeline: the read end of the pipe, which becomes the child's standard input.
  /// - environment: the variables of the child, `NAME=value`.
  /// - Throws: the system's error number.
  init(_ words: [String], lifeline: Int32, environment: [[CChar]], keeping kept: [Int32]) throws(ChildFailure) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, lifeline, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    // A descriptor duplicated to itself is inherited. Source: posix_spawn_file_actions_adddup2(3p), RATIONALE.
    for descriptor in kept { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let arguments: [UnsafeMutablePointer<CChar>?] = (["transfers"] + words).map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var pid: pid_t = 0
    // The executable of this process, even if an upgrade has replaced its file.
    let error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments, variables)
    guard error == 0 else { throw ChildFailure(number: error) }
    self.pid = pid
  }

  func signal(_ number: Int32) { kill(pid, number) }

  /// The exit code, or 128 + n for a signal, as in shells; nil while the child runs.
  func ended() -> Int32? {
    var status: Int32 = 0
    var result: pid_t
    repeat { result = waitpid(pid, &status, WNOHANG) } while result < 0 && errno == EINTR
    guard result != 0 else { return nil }
    guard result == pid else { return ExitCode.error.rawValue }
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }
}

struct ChildFailure: Error, Sendable {
  let number: Int32
  var text: String { printable(systemText(number)) }
}

/// Lets a child of the daemon stop in an orderly way when the daemon has ended, even if it was killed.
enum DaemonLifeline {
  static let variable = "_TRANSFERS_DAEMON"

  /// Waits for the end of the daemon on standard input, if this process was started by a daemon.
  static func watch(_ context: Context) {
    guard context.variable(variable) != nil else { return }
    let thread = try? WorkerThread(to: "wait for the end of the daemon") {
      var byte: UInt8 = 0
      while true {
        let count = read(0, &byte, 1)
        if count == 0 || count < 0 && errno != EINTR { break }
      }
      kill(getpid(), SIGTERM)
    }
    // Otherwise it could outlive the daemon, which starts another one later.
    if thread == nil { kill(getpid(), SIGTERM) }
  }
}
