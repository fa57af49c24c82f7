import Transfers
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The file of `--output`. A regular file is replaced atomically: a temporary file beside it is written, synced and
/// renamed, with mode 0600 less the umask. A symbolic link is followed unless it is dangling. A device or pipe is
/// written directly.
struct OutputFile {
  let stream: OutputStream
  private let path: NameBytes
  /// nil when it is written directly.
  private let temporary: [CChar]?
  private struct Unfinished {
    /// The temporary files being written.
    var paths: Set<[CChar]> = []
    /// The process is ending: no new file may be begun.
    var isEnding = false
  }
  private static let unfinished = Lock(Unfinished())

  /// `store` is the ledger of the command; its files are refused.
  init(_ path: NameBytes, store: String?) throws(CommandFailure) {
    guard !path.isEmpty, path.bytes.last != 0x2F else {
      throw .usage("--output \"\(path)\" is not a file name", remedy: "--output FILE, or - for standard output")
    }
    let target = Self.resolved(path)
    self.path = path
    if let store, Self.isLedger(target, store) {
      throw .usage("--output \"\(path)\" is a file of the ledger", remedy: "another --output")
    }
    if let database = TransferStore.database(owning: NameBytes(target.dropLast().map { UInt8(bitPattern: $0) })) {
      throw .usage(
        "--output \"\(path)\" is a file of the SQLite database \"\(database)\"", remedy: "another --output")
    }
    guard Self.kind(target) != nil || !Self.isLink(target) else {
      throw .usage(
        "--output \"\(path)\" is a dangling symbolic link", remedy: "create its target, or choose another --output")
    }
    switch Self.kind(target) {
    case S_IFDIR:
      throw .usage("--output \"\(path)\" is a directory", remedy: "--output \(path)/FILE")
    case nil, S_IFREG:
      let (descriptor, name) = Self.begin(Self.sibling(target))
      stream = OutputStream(descriptor: try Self.opened(path, descriptor))
      temporary = name
    default:
      stream = OutputStream(descriptor: try Self.opened(path, open(target, O_WRONLY | O_CLOEXEC)))
      temporary = nil
    }
  }

  /// Whether it is a file that is replaced as a whole, not a device or pipe.
  var isReplaced: Bool { temporary != nil }

  /// Durable under its name when this returns.
  func keep() throws(CommandFailure) {
    try seal()
    try place()
  }

  /// Ends the writing. The content is durable when this returns, but not yet under its name.
  func seal() throws(CommandFailure) {
    defer { close(stream.descriptor) }
    if case .failed(let number) = stream.state { throw removed("write", number) }
    guard temporary == nil || fsync(stream.descriptor) == 0 else { throw removed("write", errno) }
  }

  /// Gives the sealed file its name.
  func place() throws(CommandFailure) {
    guard let temporary else { return }
    let target = Self.resolved(path)
    guard rename(temporary, target) == 0 else { throw removed("write", errno) }
    Self.forget(temporary)
    let folder = open(Self.folder(target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { close(folder) } }
    guard folder >= 0, syncFolderNames(folder) == 0 else {
      throw Self.failure("sync the directory of", path, errno)
    }
  }

  /// Keeps the previous file.
  func discard() {
    close(stream.descriptor)
    remove()
  }

  /// Removes the temporary file of a sealed file that is not to be placed.
  func remove() {
    guard let temporary else { return }
    unlink(temporary)
    Self.forget(temporary)
  }

  private static func forget(_ temporary: [CChar]) { _ = unfinished.withLock { $0.paths.remove(temporary) } }

  /// For an early end of the process: removes the temporary files, and prevents new ones.
  static func abandonUnfinished() {
    unfinished.withLock { unfinished in
      unfinished.isEnding = true
      for path in unfinished.paths { unlink(path) }
    }
  }

  /// Creates and registers the temporary file in one step, so that a signal cannot come between. -1 with `errno` if it
  /// cannot be created.
  private static func begin(_ template: [CChar]) -> (descriptor: Int32, name: [CChar]) {
    unfinished.withLock { unfinished in
      var name = template
      guard !unfinished.isEnding else {
        errno = EINTR
        return (-1, name)
      }
      let descriptor = mkstemp(&name)
      if descriptor >= 0 { unfinished.paths.insert(name) }
      return (descriptor, name)
    }
  }

  private func removed(_ operation: String, _ number: Int32) -> CommandFailure {
    remove()
    return Self.failure(operation, path, number)
  }

  private static func opened(_ path: NameBytes, _ descriptor: Int32) throws(CommandFailure) -> Int32 {
    guard descriptor >= 0 else { throw failure("open", path, errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func failure(_ operation: String, _ path: NameBytes, _ number: Int32) -> CommandFailure {
    let cause = printable(systemText(number))
    return CommandFailure(.error, code: "output", "\(operation) \"\(path)\": \(cause)", remedy: "another --output")
  }

  /// Whether it is the database or a file beside it that SQLite or transfers uses, even if it does not exist yet:
  /// SQLite would take a file with the name of its journal for one.
  private static func isLedger(_ path: [CChar], _ store: String) -> Bool {
    let place = place(path)
    return TransferStore.fileSuffixes.contains { suffix in
      let own = Array((store + suffix).utf8CString)
      return place == self.place(own) || isSameFile(path, own)
    }
  }

  /// The canonical path of a file or folder that exists or may be made.
  static func canonical(_ path: NameBytes) -> [UInt8] {
    place(path.terminated).dropLast().map { UInt8(bitPattern: $0) }
  }

  static func isSameFile(_ a: NameBytes, _ b: NameBytes) -> Bool { isSameFile(a.terminated, b.terminated) }

  private static func isSameFile(_ a: [CChar], _ b: [CChar]) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(a, &first) == 0, stat(b, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// The canonical path of an existing or future file: its folder without links, and its own name.
  private static func place(_ path: [CChar]) -> [CChar] {
    let real = resolved(path)
    guard real == path, let slash = path.lastIndex(of: 0x2F) ?? path.indices.first else { return real }
    let name = path[slash] == 0x2F ? path[(slash + 1)...] : path[...]
    return Array(resolved(folder(path)).dropLast()) + [0x2F] + name
  }

  private static func isLink(_ path: [CChar]) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
  }

  /// The file type bits; nil if nothing exists there.
  private static func kind(_ path: [CChar]) -> mode_t? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
  }

  /// The target of the path; the path itself if nothing exists.
  private static func resolved(_ path: NameBytes) -> [CChar] {
    resolved(path.bytes.map { CChar(bitPattern: $0) } + [0])
  }

  private static func resolved(_ path: [CChar]) -> [CChar] {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return Array(UnsafeBufferPointer(start: real, count: strlen(real) + 1))
  }

  private static func folder(_ path: [CChar]) -> [CChar] {
    guard let slash = path.lastIndex(of: 0x2F) else { return [0x2E, 0] }
    return slash == 0 ? [0x2F, 0] : Array(path[..<slash]) + [0]
  }

  /// A template for `mkstemp` in the same directory; short, so that a long name does not become too long.
  private static func sibling(_ path: [CChar]) -> [CChar] {
    Array(folder(path).dropLast()) + Array("/.transfers-XXXXXX".utf8CString)
  }
}
