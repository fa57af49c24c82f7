import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Standard output or standard error: whole strings, one `write` each. Any thread.
/// A reader that closed the stream (`EPIPE`) is not an error: the rest is dropped.
final class OutputStream: Sendable {
  enum Health: Sendable, Equatable {
    case open
    /// The reader has closed it.
    case closed
    /// The `errno` of a write that failed, a full disk for example.
    case failed(Int32)
  }

  let descriptor: Int32
  private let health = Lock(Health.open)
  private let completeness = Lock(false)

  /// The written bytes, if they are kept in memory.
  private let kept: Lock<[UInt8]>?

  init(descriptor: Int32) { (self.descriptor, kept, keptLimit) = (descriptor, nil, 0) }

  /// Keeps what is written, up to this many bytes; more is a failure.
  init(keeping limit: Int) { (descriptor, kept, keptLimit) = (-1, Lock([]), limit) }

  private let keptLimit: Int
  var bytes: [UInt8] { kept?.withLock(\.self) ?? [] }

  var isTerminal: Bool { isatty(descriptor) == 1 }
  var state: Health { health.withLock { $0 } }

  /// The result is complete; later errors do not invalidate it.
  func markComplete() { completeness.withLock { $0 = true } }
  var isComplete: Bool { completeness.withLock { $0 } }

  /// Current columns of the terminal; nil if it is not a terminal. 80 if the terminal reports 0.
  var columns: Int? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Current size of the terminal; 0 if it is unknown, or the stream is not a terminal.
  var windowSize: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (0, 0) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// False while this process is in the background of the terminal.
  var isForeground: Bool {
    let owner = tcgetpgrp(descriptor)
    return owner < 0 || owner == getpgrp()
  }

  func write(_ text: String) { write(Array(text.utf8)) }
  func writeLine(_ text: String) { write(text + "\n") }

  /// Writes JSON text. Terminals treat some non-ASCII characters as commands (U+009B begins a sequence), or reorder
  /// text by them; these are escaped for terminals, which is equivalent JSON.
  func writeJSON(_ bytes: [UInt8]) { write(isTerminal ? JSONWriter.harmless(bytes) : bytes) }

  /// Writes lines of a manifest, whose names come from disks and servers.
  func writeManifest(_ bytes: [UInt8], _ form: ManifestForm) {
    guard isTerminal else { return write(bytes) }
    write(form == .jsonl ? JSONWriter.harmless(bytes) : SeparatedRow.harmlessLines(bytes))
  }

  func write(_ bytes: [UInt8]) {
    health.withLock { health in
      guard health == .open else { return }
      if let kept { return keep(bytes, in: kept, &health) }
      var rest = bytes[...]
      while true {
        switch Self.push(&rest, to: descriptor) {
        case .done: return
        case .full: waitUntilWritable()
        case .failed(let number): return health = number == EPIPE ? .closed : .failed(number)
        }
      }
    }
  }

  private func keep(_ bytes: [UInt8], in kept: Lock<[UInt8]>, _ health: inout Health) {
    let fits = kept.withLock { text in
      guard text.count + bytes.count <= keptLimit else { return false }
      text += bytes
      return true
    }
    if !fits { health = .failed(EFBIG) }
  }

  enum Push {
    case done
    /// The descriptor accepts no more bytes at the moment.
    case full
    /// The write failed with this `errno`.
    case failed(Int32)
  }

  /// Writes as much as possible, and removes it from `rest`.
  static func push(_ rest: inout ArraySlice<UInt8>, to descriptor: Int32) -> Push {
    while !rest.isEmpty {
      #if canImport(Glibc)
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      #else
        let count = rest.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
      #endif
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        return .full
      } else if errno != EINTR {
        return .failed(errno)
      }
    }
    return .done
  }

  /// For readers that run as other users.
  func makeReadable() { fchmod(descriptor, 0o644) }

  /// Whether a pipe has no reader any more, without writing to it.
  var lostItsReader: Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLERR | POLLNVAL) != 0
  }

  private func waitUntilWritable() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&entry, 1, -1)
  }
}
