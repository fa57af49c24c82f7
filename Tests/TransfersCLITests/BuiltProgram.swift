import Glibc

/// Runs the `transfers` that was built with these tests, or the one in the folder TRANSFERS_BIN, in an isolated
/// environment: an empty home, UTC, no terminal.
struct BuiltProgram {
  struct Outcome {
    var code: Int32
    /// The signal that ended the process; 0 if it exited.
    var signal: Int32
    var out: String
    var err: String
  }

  /// A new empty folder, which is removed with this value.
  let folder: TemporaryFolder
  /// The program's limit of open files; nil for the limit of these tests.
  var openFiles: Int?
  /// The longest file that it may write, in the units of `ulimit -f` (512 or 1024 bytes); nil for the limit of these
  /// tests.
  var fileLength: Int?
  /// Without it the program sees an empty /proc; needs root.
  var hasProc = true

  init() throws { folder = try TemporaryFolder() }

  static let path: String = {
    if let chosen = getenv("TRANSFERS_BIN") { return String(cString: chosen) + "/transfers" }
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    precondition(count > 0, "readlink: \(errno)")
    let own = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // `swift test` runs the bundle directly, or through a helper of the toolchain that gets the bundle as an argument.
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? own
    return bundle.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/transfers"
  }()

  func run(_ arguments: String..., environment: [String: String] = [:], out: String? = nil) throws -> Outcome {
    try run(arguments.map { Array($0.utf8) }, environment: environment, out: out)
  }

  /// If `out` is given, standard output goes to that file and is not returned.
  /// `input` is the content of standard input.
  func run(
    _ arguments: [[UInt8]], environment: [String: String] = [:], out: String? = nil, input: String? = nil
  ) throws -> Outcome {
    let inPath = input == nil ? "/dev/null" : folder.path + "/stdin"
    if let input { try writeFile(inPath, Array(input.utf8)) }
    let outPath = out ?? folder.path + "/stdout"
    let errPath = folder.path + "/stderr"
    let pid = try spawn(arguments, environment) { actions in
      posix_spawn_file_actions_addopen(&actions, 0, inPath, O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, outPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      posix_spawn_file_actions_addopen(&actions, 2, errPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    let (code, signal) = Self.wait(pid)
    return Outcome(
      code: code, signal: signal, out: out == nil ? try readText(outPath) : "", err: try readText(errPath))
  }

  /// Runs the program with a pipe as standard output whose reading end is already closed.
  func runIntoClosedPipe(_ arguments: String...) throws -> Outcome { try runIntoClosedPipe(arguments) }

  func runIntoClosedPipe(_ arguments: [String]) throws -> Outcome {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SystemFailure("pipe") }
    close(ends[0])
    let errPath = folder.path + "/stderr"
    let pid = try spawn(arguments.map { Array($0.utf8) }, [:]) { actions in
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
      posix_spawn_file_actions_addopen(&actions, 2, errPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    close(ends[1])
    let (code, signal) = Self.wait(pid)
    return Outcome(code: code, signal: signal, out: "", err: try readText(errPath))
  }

  /// Starts the program without waiting. Its output goes to a file and a named pipe with this number.
  func start(_ arguments: String..., number: Int = 0) throws -> Running { try start(arguments, number: number) }

  func start(_ arguments: [String], number: Int = 0, environment: [String: String] = [:]) throws -> Running {
    let outPath = folder.path + "/stdout-\(number)"
    let spoken = try SpokenText(path: folder.path + "/stderr-\(number)")
    let pid = try spawn(arguments.map { Array($0.utf8) }, environment) { actions in
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, outPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      posix_spawn_file_actions_addopen(&actions, 2, spoken.path, O_WRONLY, 0)
    }
    return Running(pid: pid, outPath: outPath, spoken: spoken)
  }

  /// Starts the program without waiting for its end; see ``wait(_:)``.
  func spawn(
    _ arguments: [[UInt8]], _ environment: [String: String],
    _ redirect: (inout posix_spawn_file_actions_t) -> Void
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    redirect(&actions)
    let values = ["HOME": folder.path, "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(environment) { $1 }
    let hiding = hasProc ? nil : "mount -t tmpfs none /proc && "
    let limits = [openFiles.map { "ulimit -n \($0) && " }, fileLength.map { "ulimit -f \($0) && " }, hiding]
      .compactMap(\.self)
    let shell = ["/bin/sh", "-c", limits.joined() + "exec \"$0\" \"$@\""].map { Array($0.utf8) }
    let limiting = limits.isEmpty ? [] : hasProc ? shell : ["unshare", "--mount"].map { Array($0.utf8) } + shell
    let argv = (limiting + [Array(Self.path.utf8)] + arguments).map(Self.cString) + [nil]
    let started = limits.isEmpty ? Self.path : hasProc ? "/bin/sh" : "/usr/bin/unshare"
    let envp = values.map { Self.cString(Array("\($0.key)=\($0.value)".utf8)) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    guard posix_spawn(&pid, started, &actions, nil, argv, envp) == 0 else {
      throw SystemFailure("spawn \(Self.path)")
    }
    return pid
  }

  private static func cString(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (bytes + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }

  static func wait(_ pid: pid_t) -> (code: Int32, signal: Int32) {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    return (status >> 8 & 0xFF, status & 0x7F)
  }
}

struct SystemFailure: Error {
  let text: String
  init(_ operation: String) { text = "\(operation): \(String(cString: strerror(errno)))" }
}
