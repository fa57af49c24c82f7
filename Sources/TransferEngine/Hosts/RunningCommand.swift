import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A child process started without a shell. If it has not ended when this object is released, it is killed with its
/// process group; what a program that has ended left in the background goes on. Its standard error is not read, because
/// it could contain a secret.
public final class RunningCommand {
  private static let mostOutput = 64 << 10
  /// Interval between checks whether it has ended and whether its result is still needed, in milliseconds.
  private static let lookMs: Int32 = 10
  /// Maximum wait for a killed program to end, in milliseconds.
  private static let mostEndMs: Int64 = 2_000

  /// The code of the failures that it throws.
  private let errorCode: ErrorCode
  private let process: pid_t
  private let descriptor: Int32
  private var code: Int32?
  /// It exceeded its time limit.
  public private(set) var isLate = false
  /// The same command may succeed later: it timed out, or reported a temporary failure (`EX_TEMPFAIL`). Source:
  /// sysexits.h.
  public var isTemporary: Bool { isLate || code == 75 }

  /// Starts it, with `input` on its standard input.
  /// - Throws: an error of `code` when it cannot be started.
  public init(_ arguments: [String], input: [UInt8] = [], code: ErrorCode) throws(Failure) {
    errorCode = code
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var output: Int32 = -1
    process = csys_command_start(words, input, Int64(input.count), &output)
    descriptor = output
    guard process > 0 else {
      throw Failure(
        code, "the command cannot be started: \(systemText(errno))", systemError: errno)
    }
  }

  deinit {
    guard process > 0 else { return }
    close(descriptor)
    // The number of a process that has ended may belong to another one by now.
    guard code == nil else { return }
    // Includes its child processes.
    csys_command_kill(process)
    // A program that runs as another user, or hangs in the kernel, is abandoned after a while.
    let endNs = csys_boottime_ns() + Self.mostEndMs * 1_000_000
    var last: Int32 = 0
    while csys_command_ended(process, &last) == 0, csys_boottime_ns() < endNs { usleep(1_000) }
  }

  /// Its complete output if it succeeds: at most 64 KiB. Processes that it left in the background, which may keep its
  /// output open, are not waited for. Blocking.
  /// - Parameters:
  ///   - limitMs: time limit, in milliseconds.
  ///   - isOver: polled a hundred times a second; returns true once the caller no longer needs the output.
  /// - Throws: an error with its code; `engine.interrupted` when `isOver` returns true.
  public func output(limitMs: Int64, isOver: () -> Bool) throws(Failure) -> [UInt8] {
    let (code, output) = try end(limitMs, isOver) { output throws(Failure) in
      guard output.count > Self.mostOutput else { return false }
      throw Failure(errorCode, "the command wrote more than \(Self.mostOutput >> 10) KiB")
    }
    guard code == 0 else {
      throw Failure(errorCode, "the command \(code < 0 ? "was ended by a signal" : "ended with exit code \(code)")")
    }
    return output
  }

  /// Its exit code and the beginning of its output; the rest is read and discarded. Processes that it left in the
  /// background are not waited for. Blocking.
  /// - Returns: its exit code; -1 if a signal ended it.
  /// - Throws: an error with its code if it exceeds the time limit; `engine.interrupted` when `isOver` returns true.
  public func result(
    keeping most: Int, limitMs: Int64, isOver: () -> Bool
  ) throws(Failure) -> (code: Int32, output: [UInt8]) {
    try end(limitMs, isOver) { output in
      guard output.count >= most else { return false }
      output.removeLast(output.count - most)
      return true
    }
  }

  /// Reads its output until it has ended. What it wrote is in the pipe by then, and is read without waiting for more.
  /// - Parameter limit: called when some output was read; returns whether no more of it is needed.
  private func end(
    _ limitMs: Int64, _ isOver: () -> Bool, _ limit: (inout [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) -> (code: Int32, output: [UInt8]) {
    let endNs = csys_boottime_ns() + limitMs * 1_000_000
    var (output, isAtEnd): ([UInt8], Bool) = ([], false)
    while true {
      let hasEnded = hasEnded(pauseUs: isAtEnd ? 1_000 : 0)
      if !isAtEnd { isAtEnd = read(into: &output, waitMs: hasEnded ? 0 : Self.lookMs) ?? hasEnded }
      let isEnough = try limit(&output)
      if hasEnded, isAtEnd || isEnough { return (code ?? -1, output) }
      if isOver() { throw Failure(.engineInterrupted, "stopped while waiting for a command") }
      guard csys_boottime_ns() < endNs else {
        isLate = true
        throw Failure(errorCode, "the command did not end within \(limitMs / 1_000) s")
      }
    }
  }

  /// True at the end of its output; nil if nothing can be read at the moment.
  private func read(into output: inout [UInt8], waitMs: Int32) -> Bool? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, waitMs) > 0 else { return nil }
    var block = [UInt8](repeating: 0, count: 64 << 10)
    let count = Glibc.read(descriptor, &block, block.count)
    guard count >= 0 else { return nil }
    output += block[..<count]
    return count == 0
  }

  private func hasEnded(pauseUs: UInt32) -> Bool {
    if code != nil { return true }
    var last: Int32 = 0
    guard csys_command_ended(process, &last) != 0 else {
      if pauseUs > 0 { usleep(pauseUs) }
      return false
    }
    code = last
    return true
  }
}
