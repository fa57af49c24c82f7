import CSys
import Glibc

/// The holder of a lock, as reported by the kernel. Source: proc(5), /proc/locks:
/// `1: FLOCK  ADVISORY  WRITE 4711 fd:01:12345 0 EOF`; lines of waiters have `->` as their second word; for locks on
/// bytes the last two words are the first and last byte, or `EOF`.
struct LockHolder {
  /// It holds the lock exclusively.
  let isAlone: Bool
  /// nil if the process is in another container.
  let pid: Int32?

  /// The first holder of an `flock` on the file; nil if there is none, or it cannot be determined.
  static func first(of file: stat) -> LockHolder? {
    locks("FLOCK", of: file).first.map { words in
      LockHolder(isAlone: words[3] == "WRITE", pid: Int32(words[4]).flatMap { $0 > 0 ? $0 : nil })
    }
  }

  /// Processes other than this one that hold a shared lock on one of the bytes of the file.
  static func sharing(_ bytes: ClosedRange<Int>, of file: stat) -> [Int32] {
    let found = locks("POSIX", of: file).compactMap { words -> Int32? in
      guard words.count >= 8, words[3] == "READ", let first = Int(words[6]), let last = Int(words[7]),
        first <= last, bytes.overlaps(first...last), let pid = Int32(words[4]), pid > 0, pid != getpid()
      else { return nil }
      return pid
    }
    return Set(found).sorted()
  }

  /// The words of each line about a lock of this kind on the file.
  private static func locks(_ kind: String, of file: stat) -> [[Substring]] {
    (text("/proc/locks")?.split(separator: "\n") ?? []).map { $0.split(separator: " ") }.filter { words in
      guard words.count >= 6, words[1] == kind else { return false }
      let place = words[5].split(separator: ":")
      guard place.count == 3, let inode = UInt64(place[2]), inode == UInt64(file.st_ino),
        let major = UInt32(place[0], radix: 16), let minor = UInt32(place[1], radix: 16)
      else { return false }
      return csys_device(major, minor) == UInt64(file.st_dev)
    }
  }

  /// `process 4711 (transfers), which is stopped`. Of its command line only the name is shown: the rest may contain
  /// secrets.
  var words: String {
    guard let pid else { return "a process in another container" }
    guard let status else { return "process \(pid)" }
    return "process \(pid) (\(status.name))" + (status.isStopped ? ", which is stopped" : "")
  }

  /// By a signal, or by a debugger.
  var isStopped: Bool { status?.isStopped ?? false }

  /// nil if it cannot be determined. Source: proc(5), /proc/PID/stat: the name in parentheses, then the state.
  private var status: (name: Substring, isStopped: Bool)? {
    guard let pid, let stat = Self.text("/proc/\(pid)/stat"), let open = stat.firstIndex(of: "("),
      let close = stat.lastIndex(of: ")"), open < close
    else { return nil }
    let state = stat[close...].split(separator: " ").dropFirst().first
    return (stat[stat.index(after: open)..<close], state == "T" || state == "t")
  }

  static func text(_ path: String) -> String? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while case let count = Glibc.read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
