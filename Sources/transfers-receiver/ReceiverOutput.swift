import Glibc
import TransferModel

/// Prints the URL on stdout, immediately even if stdout is a pipe.
func announce(_ url: String) {
  print(url)
  fflush(nil)
}

/// Writes one line to stderr with one write, so that lines of several threads do not mix.
func printError(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = bytes.withUnsafeBytes { write(2, $0.baseAddress!, $0.count) }
}

/// Raises the limit of open files to the maximum for this process: each connection and each unfinished upload takes
/// one.
func raiseDescriptorLimit() {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// The first line of a small file. Throws `.config` when there is none.
func secret(inFile path: String) throws(TransferError) -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw fileError("read credential", path) }
  defer { close(file) }
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress!, $0.count) }
  guard count >= 0 else { throw fileError("read credential", path) }
  let line = buffer[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
  if line.isEmpty { throw TransferError(.config, "read credential", NameBytes(path), cause: "its first line is empty") }
  return String(decoding: line, as: UTF8.self)
}

extension TransfersReceiver {
  /// Writes the port to a temporary file and renames it, so that a reader never sees an incomplete file.
  func writePortFile(_ port: UInt16) throws(TransferError) {
    guard let portFile else { return }
    let temporary = "\(portFile).\(getpid()).new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw fileError("write port file", portFile) }
    let bytes = Array("\(port)\n".utf8)
    let written = bytes.withUnsafeBytes { write(file, $0.baseAddress!, $0.count) }
    close(file)
    guard written == bytes.count, rename(temporary, portFile) == 0 else {
      let error = fileError("write port file", portFile)
      unlink(temporary)
      throw error
    }
  }
}

private func fileError(_ operation: String, _ path: String) -> TransferError {
  TransferError(.config, operation, NameBytes(path), cause: systemText(errno))
}
