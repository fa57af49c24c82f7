import Glibc
import TransferLog
import TransferModel

/// The file beside a ledger with the keys that sign its log, a line for each name that the log has had: `<path>.key`.
/// A secret, and so not in the ledger, whose copies are handed on. Lines are only ever added.
struct LogKeyFile {
  let path: String

  init(ofLedger path: String) { self.path = path + ".key" }

  /// The key of this name; made, and durable on return, where there is none. Where two processes make one at the same
  /// time, both get the first.
  func key(named name: String) throws(TransferError) -> SigningKey {
    if let key = try keys().first(where: { $0.name == name }) { return key }
    guard let made = SigningKey.make(name: name) else {
      throw TransferError(.storeIO, "make the key of", NameBytes(path), cause: "the system has no entropy")
    }
    try add(made)
    guard let key = try keys().first(where: { $0.name == name }) else { throw failure("read", EIO) }
    return key
  }

  /// All keys of the file. Lines that are not a key are skipped: a power cut can leave an incomplete one.
  func keys() throws(TransferError) -> [SigningKey] {
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
        .storeUnsuitable, "open the key", NameBytes(path), cause: "others may read or write it", remedy: "chmod 600")
    }
    let text = String(decoding: try bytes(descriptor), as: UTF8.self)
    return text.split(separator: "\n").compactMap { SigningKey(secretText: String($0)) }
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

  /// One write: a line of another process comes before or after it. It begins with a newline, which ends what a power
  /// cut may have left.
  private func add(_ key: SigningKey) throws(TransferError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("make", errno) }
    defer { close(descriptor) }
    let line = Array("\n\(key.secretText)\n".utf8)
    guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw failure("write", errno)
    }
    let folder = open(StoreFile.split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { close(folder) } }
    guard folder >= 0, fsync(folder) == 0 else { throw failure("write", errno) }
  }

  private func failure(_ verb: String, _ number: Int32) -> TransferError {
    TransferError(errno: number, "\(verb) the key", path: path)
  }
}
