import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A token that was chosen in advance: a file that only its owner can read.
enum TokenFile {
  /// Throws `.config` for a file of another user, or one that other users may read, and for a token that can be
  /// guessed.
  static func read(_ path: NameBytes) throws(CommandFailure) -> String {
    let descriptor = (path.bytes + [0]).withUnsafeBytes {
      open($0.baseAddress!.assumingMemoryBound(to: CChar.self), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
    guard descriptor >= 0 else { throw refusal(path, systemText(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw refusal(path, "it is not a file")
    }
    guard status.st_uid == geteuid() else { throw refusal(path, "it belongs to another user") }
    guard status.st_mode & 0o077 == 0 else { throw refusal(path, "others may read or change it (chmod 600)") }
    var bytes = [UInt8](repeating: 0, count: 4097)
    let count = Swift.max(0, readSystem(descriptor, &bytes, bytes.count))
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    let token = text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    // Source: RFC 6750 section 2.1.
    let isPlain = token.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || [0x2B, 0x2D, 0x2E, 0x2F, 0x3D, 0x5F, 0x7E].contains($0)
    }
    guard count <= 4096, token.utf8.count >= 32, isPlain else {
      throw refusal(path, "it holds no token of at least 32 letters, digits or -._~+/=")
    }
    return token
  }

  private static func refusal(_ path: NameBytes, _ cause: String) -> CommandFailure {
    CommandFailure(
      TransferError(
        .config, "use token file", path, cause: cause,
        remedy: "umask 077; head -c 32 /dev/urandom | od -An -vtx1 -w32 | tr -d ' ' > FILE"))
  }
}

private func readSystem(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
