import Glibc
import TransferLog
import TransferModel

/// The file beside a ledger with the keys that sign its log, a line for each name that the log has had: `<path>.key`.
/// It is secret, and therefore not in the ledger, whose copies are passed on. Lines are only added. The file is created
/// atomically with its first key, so that a power failure leaves no partial line there.
struct LogKeyFile {
  let path: String

  init(ofLedger path: String) { self.path = path + ".key" }

  /// The key with this name; if there is none, it is created and durable on return. If two processes create one at the
  /// same time, both get the first. A line that is not a key may be this key, damaged: then no new key is created.
  func key(named name: String) throws(TransferError) -> SigningKey {
    if let key = try foundKey(named: name) { return key }
    guard let made = SigningKey.make(name: name) else {
      throw TransferError(.storeIO, "make the key of", NameBytes(path), cause: "the system has no entropy")
    }
    try add(made)
    guard let key = try foundKey(named: name) else { throw failure("read", EIO) }
    return key
  }

  private func foundKey(named name: String) throws(TransferError) -> SigningKey? {
    let lines = try lines()
    let keys = lines.compactMap { SigningKey(secretText: $0) }
    if let key = keys.first(where: { $0.name == name }) { return key }
    guard keys.count == lines.count else {
      throw TransferError(
        .storeUnsuitable, "read the key", NameBytes(path), cause: "it is damaged: one of its lines is not a key",
        remedy: "restore a copy of the file; without one, move it away, seal again and publish the new key")
    }
    return nil
  }

  /// All keys of the file; lines that are not a key are skipped.
  func keys() throws(TransferError) -> [SigningKey] { try lines().compactMap { SigningKey(secretText: $0) } }

  /// The public keys; none if the user may read the ledger but not its key file.
  func publicKeys() throws(TransferError) -> [VerifyingKey] {
    if access(path, R_OK) != 0, errno == EACCES { return [] }
    return try keys().map(\.verifier)
  }

  private func lines() throws(TransferError) -> [String] {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw failure("open", errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw failure("open", EINVAL) }
    guard status.st_mode & 0o077 == 0 else {
      throw TransferError(
        .storeUnsuitable, "open the key", NameBytes(path), cause: "other users may access it", remedy: "chmod 600")
    }
    return String(decoding: try bytes(descriptor), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func bytes(_ descriptor: Int32) throws(TransferError) -> [UInt8] {
    var (all, part) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while true {
      let count = read(descriptor, &part, part.count)
      if count < 0 { throw failure("read", errno) }
      if count == 0 { return all }
      all += part[..<count]
    }
  }

  private func add(_ key: SigningKey) throws(TransferError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
    if descriptor >= 0 {
      defer { close(descriptor) }
      // A file that was restored or edited may end without a line feed.
      try write("\n\(key.secretText)\n", to: descriptor)
    } else if errno == ENOENT {
      try make(with: key)
    } else {
      throw failure("open", errno)
    }
    try syncFolder()
  }

  /// Creates the file, which gets its name when its content is durable. If another process was first, its file is kept.
  private func make(with key: SigningKey) throws(TransferError) {
    var name = Array("\(path)-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure("make", errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    defer {
      close(descriptor)
      unlink(name)
    }
    try write("\(key.secretText)\n", to: descriptor)
    guard link(name, path) == 0 || errno == EEXIST else { throw failure("make", errno) }
  }

  /// Uses a single write, so that lines of other processes come before or after this one.
  private func write(_ text: String, to descriptor: Int32) throws(TransferError) {
    let line = Array(text.utf8)
    guard Glibc.write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw failure("write", errno)
    }
  }

  private func syncFolder() throws(TransferError) {
    let folder = open(StoreFile.split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { close(folder) } }
    guard folder >= 0, syncFolderNames(folder) == 0 else { throw failure("write", errno) }
  }

  private func failure(_ verb: String, _ number: Int32) -> TransferError {
    TransferError(errno: number, "\(verb) the key", path: path)
  }
}
