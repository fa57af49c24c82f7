import Glibc

/// The bundled server in a separate process, on its own port. The process ends with this value.
final class RunningReceiver: Sendable {
  let url: String
  let root: String
  private let pid: pid_t
  /// Must outlive the server, which writes into it.
  private let folder: TemporaryFolder

  /// - Parameter script: how the server misbehaves, one rule a line.
  /// - Parameter isRecorded: whether ``commits()`` can be asked.
  init(in folder: TemporaryFolder, script: String = "", isRecorded: Bool = false) throws {
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
    let record = isRecorded ? ["--record", folder.path + "/record"] : []
    let arguments: [String] = [program, "--dir", root, "--quiet", "--script", scriptPath] + record
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

  /// How many objects the server has stored under their final names so far, replaced ones included.
  func commits() throws -> Int {
    try readText(folder.path + "/record").split(separator: "\n").count { $0.contains(#""t":"commit""#) }
  }

  /// Waits until the script holds `count` requests under this name at the same time; throws if they do not arrive.
  func waitUntilHeld(_ name: String, count: Int = 1) throws { try ask("GET", "\(name)?count=\(count)", 200) }

  /// Lets the held requests continue, and all later ones.
  func release(_ name: String) throws { try ask("DELETE", name, 204) }

  private func ask(_ method: String, _ hold: String, _ status: Int) throws {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(client) }
    // A limit for failures only; a passing test never waits this long.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = (UInt16(url.split(separator: ":").last ?? "") ?? 0).bigEndian
    let isConnected = withUnsafeBytes(of: &address) {
      connect(client, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
    }
    guard isConnected else { throw SystemFailure("connect") }
    let request = Array("\(method) /-/holds/\(hold) HTTP/1.1\r\nHost: test\r\n\r\n".utf8)
    guard send(client, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw SystemFailure("send")
    }
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = recv(client, &answer, answer.count, 0)
    let text = String(decoding: answer.prefix(max(0, count)), as: UTF8.self)
    guard text.hasPrefix("HTTP/1.1 \(status) ") else { throw SystemFailure("\(method) \(hold): \(text)") }
  }

  /// The first line, which the server prints when it is ready: its URL.
  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 0x0A { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
