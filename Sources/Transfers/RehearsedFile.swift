import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that is read for a dry run and not sent.
final class RehearsedFile {
  let size: Int64
  /// Milliseconds since 1970 UTC.
  let mtimeMs: Int64
  private let descriptor: Int32
  private let path: NameBytes

  /// - Throws: `.noSource` when it is not a readable file.
  init(_ path: NameBytes) throws(TransferError) {
    self.path = path
    descriptor = (path.bytes + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    }
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { close(descriptor) }
      throw TransferError(.noSource, "read", path, cause: "it is not a readable file")
    }
    size = Int64(status.st_size)
    mtimeMs = Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
  }

  deinit { close(descriptor) }

  func digest(_ range: ByteRange, _ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
    var running = RunningDigest(algorithm)
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var offset = range.offset
    while offset < range.end {
      let count = pread(descriptor, &buffer, min(buffer.count, Int(range.end - offset)), off_t(offset))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw TransferError(.noSource, "read", path, cause: "it cannot be read completely") }
      buffer.withUnsafeBytes { running.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += Int64(count)
    }
    return running.finish()
  }
}
