import Glibc
import Synchronization
import TransferModel

/// Ends one exchange from the thread of another.
final class Interruption: Sendable {
  /// From <poll.h>, where it needs _GNU_SOURCE: the socket was shut down for reading, by its peer or by us.
  static let readingEnded: Int16 = 0x2000

  private let socket: Int32
  private let raised = Atomic<Bool>(false)

  init(socket: Int32) { self.socket = socket }

  var isRaised: Bool { raised.load(ordering: .acquiring) }

  /// Wakes the exchange from a read or a scripted wait. To be called only while it cannot have closed its socket.
  fileprivate func raise() {
    raised.store(true, ordering: .releasing)
    shutdown(socket, Int32(SHUT_RD))
  }

  /// Waits until the time has passed, ``raise()`` is called, or `stop` becomes readable. True when the time has passed.
  func wait(milliseconds: Int64, stop: Int32) -> Bool {
    let deadline = monotonicNanoseconds() + milliseconds * 1_000_000
    var watched: nfds_t = 2
    while !isRaised {
      let left = (deadline - monotonicNanoseconds() + 999_999) / 1_000_000
      if left <= 0 { return true }
      var polled = (
        pollfd(fd: stop, events: Int16(POLLIN), revents: 0), pollfd(fd: socket, events: Self.readingEnded, revents: 0)
      )
      let count = withUnsafeMutableBytes(of: &polled) {
        poll($0.assumingMemoryBound(to: pollfd.self).baseAddress!, watched, Int32(clamping: left))
      }
      if count > 0 && polled.0.revents != 0 { return false }
      // The client closed its side of the connection; the wait continues all the same.
      if count > 0 { watched = 1 }
    }
    return false
  }
}

/// Lets one request at a time use an upload. A new request ends the running one: a client that reconnects after a
/// broken connection needs that.
final class UploadLock: Sendable {
  final class Hold: Sendable {
    fileprivate let interruption: Interruption
    fileprivate let released = Mailbox<Int>()

    fileprivate init(_ interruption: Interruption) { self.interruption = interruption }
  }

  private static let patienceMs: Int64 = 2000
  private let current = Lock<Hold?>(nil)

  /// Takes the lock; nil when the running request did not end within two seconds.
  func take(_ interruption: Interruption) -> Hold? {
    let mine = Hold(interruption)
    let deadline = monotonicNanoseconds() + Self.patienceMs * 1_000_000
    while true {
      let holder = current.withLock { current -> Hold? in
        guard let holder = current else {
          current = mine
          return nil
        }
        holder.interruption.raise()
        return holder
      }
      guard let holder else { return mine }
      let left = (deadline - monotonicNanoseconds()) / 1_000_000
      if left <= 0 { return nil }
      _ = holder.released.take(timeoutMs: left)
    }
  }

  func release(_ hold: Hold) {
    current.withLock { $0 = nil }
    hold.released.close()
  }
}
