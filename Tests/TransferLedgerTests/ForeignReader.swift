import Glibc
import Testing

/// Another program that reads a ledger: it holds a snapshot until ``end()``.
struct ForeignReader {
  let pid: pid_t
  private let socket: Int32

  private static let program = """
    import sqlite3, sys
    c = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
    c.execute('BEGIN')
    c.execute('SELECT count(*) FROM file').fetchone()
    print('reads', flush=True)
    sys.stdin.read()
    """

  /// Starts it and returns once it reads.
  init(of path: String) throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in [0, 1] { posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor) }
    let texts: [String] = ["python3", "-c", Self.program, path]
    let words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var pid = pid_t()
    try #require(posix_spawnp(&pid, "python3", &actions, nil, words, environ) == 0)
    (self.pid, socket) = (pid, ends[0])
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(read(ends[0], &buffer, buffer.count) > 0)
  }

  func end() {
    close(socket)
    waitpid(pid, nil, 0)
  }
}
