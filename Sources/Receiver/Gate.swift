import Glibc
import TransferModel

/// A one-time signal: it opens once and stays open. Waiting threads poll its descriptor, and so can wait for other
/// events, too.
final class Gate: Sendable {
  private let reader: Descriptor
  private let writer: Lock<Descriptor?>

  init() throws(TransferError) {
    var ends: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) { pipe($0.baseAddress!.assumingMemoryBound(to: Int32.self)) }
    guard made == 0 else {
      throw TransferError(
        .config, "open pipe", cause: errorText(errno), remedy: "raise the limit of open files (ulimit -n)")
    }
    for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reader = Descriptor(ends.0)
    writer = Lock(Descriptor(ends.1))
  }

  /// Polling it for reading returns immediately once the gate is open.
  var number: Int32 { reader.number }

  func open() { writer.withLock { $0 = nil } }

  /// Waits until one of the gates is open, and returns the index of the first open one; nil on timeout, or if either
  /// side shuts down the connection `socket` first. A client's close is only noticed once the bytes that it has sent
  /// are in the receive buffer.
  static func waitForAny(_ gates: [Gate], socket: Int32? = nil, timeoutMs: Int64 = .max) -> Int? {
    let deadline = monotonicNanoseconds() + min(timeoutMs, 1 << 40) * 1_000_000
    var polled = gates.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    if let socket { polled.append(pollfd(fd: socket, events: Interruption.readingEnded, revents: 0)) }
    while true {
      let left = max(0, (deadline - monotonicNanoseconds() + 999_999) / 1_000_000)
      let count = poll(&polled, nfds_t(polled.count), Int32(clamping: left))
      if count > 0 { return polled.firstIndex { $0.revents != 0 }.flatMap { $0 < gates.count ? $0 : nil } }
      if count == 0, left < Int64(Int32.max) { return nil }
    }
  }
}
