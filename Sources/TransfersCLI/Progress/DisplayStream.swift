import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Non-blocking standard error, so that output cannot delay the engine: if a terminal was stopped with Ctrl-S, or the
/// reader of a log is slow, unwritten text is buffered here. The flags of the descriptor itself are not changed,
/// because other processes share it; a terminal or pipe is opened a second time instead. Any thread.
final class DisplayStream: Sendable {
  private let out: OutputStream
  /// Does not block; nil where that is not needed (files) or not possible: then writes wait.
  private let descriptor: Int32?
  private let rest = Lock<ArraySlice<UInt8>>([])

  init(_ out: OutputStream) {
    self.out = out
    descriptor = Self.reopened(out.descriptor)
  }

  deinit {
    if let descriptor { close(descriptor) }
  }

  /// Nothing is buffered any more.
  var isReady: Bool { rest.withLock { push(&$0) } }

  /// Writes what can be written now, and keeps the rest.
  func write(_ text: String) {
    rest.withLock { rest in
      rest += Array(text.utf8)
      _ = push(&rest)
    }
  }

  /// Waits until everything is written.
  func drain() {
    rest.withLock { rest in
      guard !push(&rest) else { return }
      out.write(Array(rest))
      rest = []
    }
  }

  private func push(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard !rest.isEmpty else { return true }
    guard let descriptor else {
      out.write(Array(rest))
      rest = []
      return true
    }
    switch OutputStream.push(&rest, to: descriptor) {
    case .done: return true
    case .full: return false
    case .failed:
      // The reader has closed it.
      rest = []
      return true
    }
  }

  /// Source: proc(5) on `/proc/PID/fd`: opening such a link makes a new open file description.
  private static func reopened(_ descriptor: Int32) -> Int32? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFIFO || isatty(descriptor) == 1 else {
      return nil
    }
    let opened = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return opened >= 0 ? opened : nil
  }
}
