import Glibc
public import TransferModel

/// A small, real HTTP/1.1 server for uploads and downloads, with one thread per connection.
///
/// Objects appear under their final name only when they are complete and on the disk. ``ReceiverEvent`` is its record
/// of everything it accepted, ``FaultScript`` its deliberate faults. It shares only plain values with the client, no
/// other code.
public final class ReceiverServer: Sendable {
  private struct Running {
    /// -1 once its thread has closed it.
    var socket: Int32
    var thread: WorkerThread
  }

  private struct Live {
    var running: [Int64: Running] = [:]
    var accepted: Int64 = 0
    var isStopping = false
  }

  private struct Threads {
    var acceptor: WorkerThread
    var reaper: WorkerThread
  }

  private let core: ReceiverCore
  private let listener: Listener
  private let live = Lock(Live())
  private let ended = Mailbox<Int64>()
  private let threads = Lock<Threads?>(nil)

  /// Opens folder, record and socket; connections wait until ``start()``. Throws `.config`, `.usage` or `.locked`.
  public init(_ settings: ReceiverSettings) throws(TransferError) {
    core = try ReceiverCore(settings)
    listener = try Listener(host: settings.host, port: settings.port)
    do throws(ExchangeEnd) {
      try core.record.add(
        ReceiverEvent(
          atMs: wallMilliseconds(), connection: 0, request: 0, path: NameBytes(""),
          kind: .open(pid: Int64(getpid()), seed: settings.seed)))
    } catch {
      throw TransferError(.config, "write record", NameBytes(settings.recordPath ?? ""), cause: "disk or file is full")
    }
  }

  /// `http://127.0.0.1:40211`, without a slash at the end.
  public var url: String { listener.url }
  public var port: UInt16 { listener.port }
  public var summary: ReceiverSummary { core.summary }

  /// Starts serving on its own threads, and returns the URL. Can be called once. Throws `.config` if there is no
  /// thread.
  @discardableResult
  public func start() throws(TransferError) -> String {
    try threads.withLock { threads throws(TransferError) in
      precondition(threads == nil, "the receiver was started before")
      let reaper = try WorkerThread(to: "end connections") { [self] in joinEnded() }
      do throws(TransferError) {
        let acceptor = try WorkerThread(to: "accept connections") { [self] in acceptAll() }
        threads = Threads(acceptor: acceptor, reaper: reaper)
      } catch {
        ended.close()
        reaper.join()
        throw error
      }
    }
    return url
  }

  /// Ends every connection immediately and waits for the threads; bodies in flight leave nothing behind. Call it from a
  /// thread that may block. A second call does nothing.
  public func stop() {
    let taken = threads.withLock { threads in
      defer { threads = nil }
      return threads
    }
    guard let taken else { return }
    core.stopWaits()
    shutdown(listener.descriptor.number, Int32(SHUT_RDWR))
    taken.acceptor.join()
    live.withLock { live in
      live.isStopping = true
      for connection in live.running.values where connection.socket >= 0 {
        shutdown(connection.socket, Int32(SHUT_RDWR))
      }
      if live.running.isEmpty { ended.close() }
    }
    taken.reaper.join()
    core.uploads.removeAll()
  }

  /// Waits until the script holds `count` requests under this name at the same time; false if that cannot happen: the
  /// hold was released, the receiver stopped, the script has no such name, or the timeout expired. Call it from a
  /// thread that may block.
  public func waitUntilHeld(_ name: String, count: Int = 1, timeoutMs: Int64 = .max) throws(TransferError) -> Bool {
    try core.holds.waitUntilHeld(name, count: count, timeoutMs: timeoutMs)
  }

  /// Releases the requests that the script holds under this name, and all later ones.
  public func release(_ name: String) { core.holds.release(name) }

  private func acceptAll() {
    while let socket = listener.accept() {
      let isServed = live.withLock { live in
        guard live.running.count < core.settings.maxConnections else { return false }
        let number = live.accepted + 1
        guard let thread = try? WorkerThread(to: "serve a connection", { [self] in serve(socket, number) }) else {
          return false
        }
        live.accepted = number
        live.running[number] = Running(socket: socket, thread: thread)
        return true
      }
      if !isServed { turnAway(socket) }
    }
  }

  private func serve(_ socket: Int32, _ number: Int64) {
    core.count { $0.connections += 1 }
    Connection(core: core, socket: Socket(socket, timeoutMs: core.settings.timeoutMs), number: number).serve()
    live.withLock { live in
      live.running[number]?.socket = -1
      close(socket)
    }
    ended.put(number)
  }

  private func turnAway(_ socket: Int32) {
    var answer = Answer(503, text: "too many connections")
    answer.fields.append(Answer.Field("Retry-After", "1"))
    let bytes = answer.head(closing: true, nowSeconds: Int(wallMilliseconds() / 1000)) + answer.body
    // This fits into an empty send buffer, so the accepting thread never blocks.
    _ = bytes.withUnsafeBytes {
      send(socket, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    shutdown(socket, Int32(SHUT_WR))
    close(socket)
  }

  private func joinEnded() {
    while let numbers = ended.take() {
      for number in numbers {
        let thread = live.withLock { $0.running.removeValue(forKey: number)?.thread }
        thread?.join()
      }
      live.withLock { live in
        if live.isStopping && live.running.isEmpty { ended.close() }
      }
    }
  }
}
