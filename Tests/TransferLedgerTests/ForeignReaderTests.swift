import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Another program that reads the ledger prevents its WAL from being emptied, and is named.
@Suite struct ForeignReaderTests {
  private static let program = """
    import sqlite3, sys
    c = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
    c.execute('BEGIN')
    c.execute('SELECT count(*) FROM file').fetchone()
    print('reads', flush=True)
    sys.stdin.read()
    """

  /// Starts the reader and returns once it reads; it ends when its socket is closed.
  private func start(_ path: String) throws -> (pid: pid_t, socket: Int32) {
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
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(read(ends[0], &buffer, buffer.count) > 0)
    return (pid, ends[0])
  }

  /// Names even a reader that began when the WAL was empty: nothing is copied into the database while it reads.
  @Test(arguments: [false, true]) func whoeverReadsIsNamed(emptiesLogBefore: Bool) throws {
    let f = try LedgerFixture()
    _ = try f.makeBatch()
    if emptiesLogBefore { try f.restart() }
    #expect(StoreCondition(at: f.path).walReaders == [])
    let reader = try start(f.path)
    #expect(StoreCondition(at: f.path).walReaders == [reader.pid])
    close(reader.socket)
    waitpid(reader.pid, nil, 0)
    #expect(StoreCondition(at: f.path).walReaders == [])
  }
}
