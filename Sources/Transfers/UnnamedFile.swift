import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A temporary file for lists that must be read from a file. It has no name, so that a crash leaves nothing behind.
enum UnnamedFile {
  static func holding<Result>(
    _ bytes: [UInt8], _ body: (NameBytes) throws(TransferError) -> Result
  ) throws(TransferError) -> Result {
    let file = tmpfile()
    defer { if let file { fclose(file) } }
    guard let file, FileText.write(bytes, to: fileno(file), at: 0) else {
      let cause = systemText(errno)
      throw TransferError(.storeIO, "write list", NameBytes("/tmp"), cause: cause, remedy: "make room in /tmp")
    }
    return try body(NameBytes("/proc/self/fd/\(fileno(file))"))
  }
}
