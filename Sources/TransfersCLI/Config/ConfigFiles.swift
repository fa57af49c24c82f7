import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Locates and reads the configuration; the only place that does.
enum ConfigFiles {
  struct Candidate: Sendable, Hashable {
    let path: String
    /// Its origin: `--config`, `TRANSFERS_CONFIG`, `XDG_CONFIG_HOME`, `HOME` or `system`; `daemon` for a copy.
    let origin: String
    /// The descriptor of the daemon's copy of what it read (``HeldConfig``).
    var heldAt: Int32?
    /// It was named explicitly, and so must exist.
    var isNamed: Bool { origin == "--config" || origin == "TRANSFERS_CONFIG" }
  }

  static let system = "/etc/transfers/config.yaml"
  private static let largest = 1 << 20

  /// The files to read, in order of precedence: the explicitly named one, or those of the user and the system.
  static func candidates(_ option: String?, _ context: Context) -> [Candidate] {
    if let option { return [Candidate(path: option, origin: "--config")] }
    if let held = HeldConfig.candidates(context) { return held }
    if let path = context.variable("TRANSFERS_CONFIG") { return [Candidate(path: path, origin: "TRANSFERS_CONFIG")] }
    var found: [Candidate] = []
    if let folder = context.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      found.append(Candidate(path: folder + "/transfers/config.yaml", origin: "XDG_CONFIG_HOME"))
    } else if let home = context.variable("HOME") {
      found.append(Candidate(path: home + "/.config/transfers/config.yaml", origin: "HOME"))
    }
    return found + [Candidate(path: system, origin: "system")]
  }

  /// `--config FILE` of an unparsed command line.
  static func option(_ arguments: [String]) -> String? {
    let options = Array(arguments.prefix { $0 != "--" })
    if let index = options.lastIndex(of: "--config"), index + 1 < options.endIndex { return options[index + 1] }
    return options.last { $0.hasPrefix("--config=") }.map { String($0.dropFirst("--config=".count)) }
  }

  /// The configuration of a command, without its invalid parts.
  /// - Throws: `.config` for a file that cannot be read, or that other users may write to.
  static func find(_ option: String?, _ context: Context) throws(CommandFailure) -> (Config, [ConfigFault]) {
    var (config, faults) = (Config(), [ConfigFault]())
    for candidate in candidates(option, context) {
      guard let bytes = try contents(candidate) else { continue }
      let found = ConfigReader.read(bytes, file: candidate.path, home: context.variable("HOME"))
      config.fill(from: found.config)
      faults += found.faults
    }
    return (config, faults)
  }

  /// - Throws: `.config` also for errors in it: the first one, with their number. An invalid value of a job is an error
  ///   of the commands that use this job (``Config/job(_:check:)``).
  static func load(_ option: String?, _ context: Context) throws(CommandFailure) -> Config {
    let (config, all) = try find(option, context)
    let faults = all.filter { $0.job == nil }
    guard let first = faults.first else { return config }
    let more = faults.count > 1 ? " (and \(Quantity.count(faults.count - 1, "more fault")))" : ""
    throw CommandFailure(
      .config, "read configuration: \(first.place): \(printable(first.message))\(more)",
      remedy: context.configCheck)
  }

  /// The configuration for an unparsed command line. Commands that help to fix it work without it.
  static func config(_ context: Context) throws(CommandFailure) -> Config {
    let words = CommandPath(context.arguments).words
    let isHelp = words.isEmpty || context.arguments.contains { ["--help", "-h", "--version"].contains($0) }
    do throws(CommandFailure) {
      return try load(option(context.arguments), context)
    } catch {
      guard isHelp || ["config", "help", "completions", "doctor"].contains(words[0]) else { throw error }
      return Config()
    }
  }

  /// nil for a missing file that was not named explicitly; also if its folder may not be entered, for example the home
  /// folder of another user.
  static func contents(_ candidate: Candidate) throws(CommandFailure) -> [UInt8]? {
    let name =
      candidate.heldAt.map { NameBytes("/proc/self/fd/\($0)") } ?? NameBytes(EscapedArgument.decode(candidate.path))
    let descriptor = open(name.terminated, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      var status = stat()
      let isHidden = code == EACCES && lstat(name.terminated, &status) != 0
      if !candidate.isNamed, code == ENOENT || code == ENOTDIR || isHidden { return nil }
      throw failure(name, printable(systemText(code)), remedy: "check the path")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw failure(name, printable(systemText(errno)), remedy: "check the path")
    }
    if isNull(status) { return [] }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure(name, "it is not a file", remedy: "check the path") }
    try checkOwner(status, name)
    try checkFolders(name)
    return try bytes(descriptor, name)
  }

  /// `/dev/null`, the usual way to say "none". Any other device would drop all jobs by mistake.
  /// Source: devices.txt of Linux: character device 1, 3.
  private static func isNull(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFCHR && status.st_rdev == 0x103
  }

  /// As ssh does, because the configuration controls actions with the user's permissions.
  private static func checkOwner(_ status: stat, _ name: NameBytes) throws(CommandFailure) {
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw failure(name, "it belongs to another user", remedy: "chown it, or name another with --config")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw failure(name, "other users may write to it", remedy: "chmod go-w \(name)")
    }
  }

  /// As ssh does: a user who may write to a folder of the path can replace the file. In a folder with the sticky bit,
  /// such as /tmp, only the owner of a file can. The folders of the path and of the file it leads to are checked.
  private static func checkFolders(_ name: NameBytes) throws(CommandFailure) {
    let slash = name.bytes.lastIndex(of: 0x2F)
    let parent = slash.map { NameBytes(Array(name.bytes[...$0])) } ?? NameBytes([0x2E])
    let file = realPath(name)?.split(separator: 0x2F).dropLast()
    let folder = realPath(parent)?.split(separator: 0x2F)
    for parts in [file.map(Array.init), folder].compactMap(\.self) {
      for count in 0...parts.count {
        let path = NameBytes([0x2F] + Array(parts.prefix(count).joined(separator: [0x2F])))
        var status = stat()
        guard stat(path.terminated, &status) == 0 else { continue }
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
          throw failure(name, "other users may write to its folder \"\(path)\"", remedy: "chmod go-w \(path)")
        }
      }
    }
  }

  private static func realPath(_ name: NameBytes) -> [UInt8]? {
    guard let path = realpath(name.terminated, nil) else { return nil }
    defer { free(path) }
    return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
  }

  private static func bytes(_ descriptor: Int32, _ name: NameBytes) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw failure(name, printable(systemText(errno)), remedy: "check the file")
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= largest else {
        throw failure(name, "it is longer than \(largest) bytes", remedy: "check that it is a configuration")
      }
    }
  }

  private static func failure(_ name: NameBytes, _ cause: String, remedy: String) -> CommandFailure {
    CommandFailure(.config, "read configuration \"\(name)\": \(cause)", remedy: remedy)
  }
}

extension NameBytes {
  /// The path as a C string, for system calls.
  var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
