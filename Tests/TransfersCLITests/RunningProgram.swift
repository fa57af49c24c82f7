import Glibc
import TransferModel

extension BuiltProgram {
  /// A started program; a test can wait for text on its standard error.
  final class Running: Sendable {
    let pid: pid_t
    private let outPath: String
    private let spoken: SpokenText

    init(pid: pid_t, outPath: String, spoken: SpokenText) {
      (self.pid, self.outPath, self.spoken) = (pid, outPath, spoken)
      spoken.listen()
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits until the program has written this text to standard error; throws if it ends without doing so.
    func waitUntilSaid(_ text: String, times: Int = 1) throws { try spoken.wait(for: text, times) }

    /// How often the program has written this text so far.
    func countSaid(_ text: String) -> Int { spoken.count(text) }

    func wait() throws -> Outcome {
      let (code, signal) = BuiltProgram.wait(pid)
      return Outcome(code: code, signal: signal, out: try readText(outPath), err: spoken.whole())
    }
  }
}

/// The text that a program writes to a named pipe, as it arrives. The pipe is named so that only this program opens it:
/// processes that are started at the same time do not inherit it, and it ends with its writer.
final class SpokenText: Sendable {
  let path: String
  private let descriptor: Int32
  private let text = Lock<[UInt8]>([])
  private let news = Mailbox<Void>()
  private let listener = Lock<WorkerThread?>(nil)

  init(path: String) throws {
    self.path = path
    unlink(path)
    guard mkfifo(path, 0o600) == 0 else { throw SystemFailure("mkfifo \(path)") }
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure("open \(path)") }
  }

  /// Starts to read. The writer must have opened the pipe.
  fileprivate func listen() {
    _ = fcntl(descriptor, F_SETFL, 0)
    listener.withLock { [descriptor, text, news] in
      $0 = WorkerThread {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
          text.withLock { $0 += buffer[..<count] }
          news.put(())
        }
        close(descriptor)
        news.close()
      }
    }
  }

  private var now: String { String(decoding: text.withLock { $0 }, as: UTF8.self) }

  fileprivate func count(_ text: String) -> Int { now.ranges(of: text).count }

  fileprivate func wait(for wanted: String, _ times: Int) throws {
    while count(wanted) < times {
      guard news.take() != nil else {
        if count(wanted) >= times { return }
        throw Unsaid(wanted: wanted, said: now)
      }
    }
  }

  /// The complete text, after the writer has ended.
  fileprivate func whole() -> String {
    listener.withLock { listener in
      defer { listener = nil }
      return listener
    }?.join()
    return now
  }

  struct Unsaid: Error {
    let wanted, said: String
  }
}
