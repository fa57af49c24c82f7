import CSys
public import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Gets the URL of a file from a program: the key on its standard input, one URL on its standard output. Nothing that
/// it writes is kept or shown.
public struct URLCommand: URLSource {
  private let arguments: [String]
  private let origin: WebOrigin
  private let limitMs: Int64
  /// Until when it is not asked, in nanoseconds of the boot clock: it did not end for one file, and each of the others
  /// would wait as long.
  private let restNs = Lock<Int64>(0)
  /// So many times its limit it rests.
  private static let restFactor: Int64 = 10

  /// - Parameters:
  ///   - origin: of the files.
  ///   - limitMs: how long it may take, in milliseconds.
  public init(arguments: [String], origin: WebOrigin, limitMs: Int64 = 60_000) {
    (self.arguments, self.origin, self.limitMs) = (arguments, origin, limitMs)
  }

  public func url(for key: NameBytes, isOver: @Sendable () -> Bool) throws(Failure) -> String {
    guard csys_boottime_ns() >= restNs.withLock(\.self) else {
      throw Failure(.authNeedsURL, "the command was not asked: it did not end for another file a short while ago")
    }
    let text = try output(for: key, isOver)
    let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard let line = lines.first else { throw Failure(.authNeedsURL, "the command gave no URL") }
    guard lines.count == 1 else { throw Failure(.authNeedsURL, "the command wrote more than one URL") }
    try SignedURL.check(String(line), for: origin)
    return String(line)
  }
}

extension URLCommand {
  private func output(for key: NameBytes, _ isOver: () -> Bool) throws(Failure) -> [UInt8] {
    let command = try RunningCommand(arguments, input: key.bytes + [0x0A])
    do throws(Failure) { return try command.output(limitMs: limitMs, isOver: isOver) } catch {
      if command.isLate { restNs.withLock { $0 = csys_boottime_ns() + Self.restFactor * limitMs * 1_000_000 } }
      throw error
    }
  }
}

/// A program that was started, and is ended with all that it started.
private final class RunningCommand {
  private static let mostOutput = 64 << 10
  /// Between two looks whether anybody waits for it, in milliseconds.
  private static let lookMs: Int32 = 100
  /// For a program that was killed to end, in milliseconds.
  private static let mostEndMs: Int64 = 2_000

  private let process: pid_t
  private let descriptor: Int32
  private var code: Int32?
  /// It did not end in time.
  private(set) var isLate = false

  init(_ arguments: [String], input: [UInt8]) throws(Failure) {
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var output: Int32 = -1
    process = csys_command_start(words, input, Int64(input.count), &output)
    descriptor = output
    guard process > 0 else {
      throw Failure(
        .authNeedsURL, "the command cannot be started: \(String(cString: strerror(errno)))", systemError: errno)
    }
  }

  deinit {
    guard process > 0 else { return }
    close(descriptor)
    // Also what it left running.
    csys_command_kill(process)
    // A program that runs as somebody else, or hangs in the kernel, is left behind: nothing waits for it.
    let endNs = csys_boottime_ns() + Self.mostEndMs * 1_000_000
    var last: Int32 = 0
    while code == nil, csys_command_ended(process, &last) == 0, csys_boottime_ns() < endNs { usleep(1_000) }
  }

  /// All that it writes, when it ends well.
  func output(limitMs: Int64, isOver: () -> Bool) throws(Failure) -> [UInt8] {
    let endNs = csys_boottime_ns() + limitMs * 1_000_000
    var output: [UInt8] = []
    while try !read(into: &output) || !hasEnded() {
      if isOver() { throw Failure(.engineInterrupted, "stopped while a URL was asked for") }
      guard csys_boottime_ns() < endNs else {
        isLate = true
        throw Failure(.authNeedsURL, "the command did not end within \(limitMs / 1_000) s")
      }
    }
    guard code == 0 else {
      let how = code.map { $0 < 0 ? "was ended by a signal" : "ended with exit code \($0)" } ?? ""
      throw Failure(.authNeedsURL, "the command \(how)")
    }
    return output
  }

  /// True at the end of its output.
  private func read(into output: inout [UInt8]) throws(Failure) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Self.lookMs) > 0 else { return false }
    var block = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(descriptor, &block, block.count)
    if count < 0 { return false }
    output += block[..<count]
    guard output.count <= Self.mostOutput else {
      throw Failure(.authNeedsURL, "the command wrote more than \(Self.mostOutput >> 10) KiB")
    }
    return count == 0
  }

  private func hasEnded() -> Bool {
    var last: Int32 = 0
    guard csys_command_ended(process, &last) != 0 else {
      usleep(1_000)
      return false
    }
    code = last
    return true
  }
}
