import Glibc

/// The bundled server in a process of its own, on a port of its own, ended with this value.
final class RunningReceiver: Sendable {
  let url: String
  let root: String
  private let pid: pid_t
  /// Outlives the server, which writes into it.
  private let folder: TemporaryFolder

  /// - Parameter script: what it does wrong, one rule a line.
  init(in folder: TemporaryFolder, script: String = "") throws {
    self.folder = folder
    root = folder.path + "/objects"
    let scriptPath = folder.path + "/script"
    try writeFile(scriptPath, Array(script.utf8))
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SystemFailure("pipe") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    let program = BuiltProgram.path + "-receiver"
    let arguments: [String] = [program, "--dir", root, "--quiet", "--script", scriptPath]
    let argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in argv { free(pointer) } }
    var pid: pid_t = 0
    guard posix_spawn(&pid, program, &actions, nil, argv, environ) == 0 else { throw SystemFailure("spawn \(program)") }
    self.pid = pid
    close(ends[1])
    defer { close(ends[0]) }
    url = Self.line(ends[0])
  }

  deinit {
    kill(pid, SIGTERM)
    waitpid(pid, nil, 0)
  }

  /// The first line: the URL, printed when it is ready.
  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 0x0A { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
