import TransferEngine
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the ledger records about the machine of a run.
package enum HostFacts {
  package static var name: String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let status = buffer.withUnsafeMutableBytes {
      gethostname($0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count - 1)
    }
    return status == 0 ? String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) : "unknown"
  }

  /// Distinguishes boots, because process ids are meaningless after a reboot.
  package static var bootID: String {
    String(decoding: FileText.bytes("/proc/sys/kernel/random/boot_id") ?? [], as: UTF8.self)
      .split(separator: "\n").first.map(String.init) ?? "unknown"
  }

  static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// Small files as bytes.
enum FileText {
  /// The content of the file up to 1 MiB; nil when it cannot be read.
  static func bytes(_ path: String) -> [UInt8]? { bytes(NameBytes(path), limit: 1 << 20) }

  /// The content of the file up to `limit` bytes or slightly more; nil when it cannot be read.
  static func bytes(_ path: NameBytes, limit: Int) -> [UInt8]? { try? read(path, limit: limit) }

  /// Why a file cannot be read, to be appended to "it cannot be read: ".
  struct Unreadable: Error {
    let cause: String
    var isMissing = false
  }

  /// The same, but throws the cause. Only regular files are read; never waits for the other end of a FIFO or for a
  /// device.
  static func read(_ path: NameBytes, limit: Int = 1 << 20) throws(Unreadable) -> [UInt8] {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else {
      throw Unreadable(cause: systemText(errno), isMissing: errno == ENOENT)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Unreadable(cause: systemText(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable(cause: "it is not a regular file") }
    guard let bytes = bytes(in: descriptor, limit: limit) else {
      throw Unreadable(cause: systemText(errno))
    }
    return bytes
  }

  /// The same for an open file, from its current offset.
  static func bytes(in descriptor: Int32, limit: Int) -> [UInt8]? {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while all.count < limit {
      let count = readSystem(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? all : nil }
      all += buffer[..<count]
    }
    return all
  }

  /// Whether the path is a regular file or a link to one.
  static func isFile(_ path: NameBytes) -> Bool {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Writes all bytes at an offset; returns false and sets `errno` when that fails.
  static func write(_ bytes: some Sequence<UInt8>, to descriptor: Int32, at offset: Int) -> Bool {
    let bytes = Array(bytes)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        pwrite(descriptor, raw.baseAddress! + done, raw.count - done, off_t(offset + done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }
}

private func readSystem(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
