public import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Receives the bytes of a file in order. Called from one thread at a time; may block, which delays the file.
public protocol StreamOutput: AnyObject, Sendable {
  /// Called before the first byte of a file.
  func begin(_ head: AnswerHead) throws(Failure)
  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure)
}

/// An open descriptor: standard output.
public final class DescriptorOutput: StreamOutput {
  private let descriptor: Int32

  /// - Parameter descriptor: remains owned by the caller.
  public init(_ descriptor: Int32) { self.descriptor = descriptor }

  public func begin(_ head: AnswerHead) {}

  /// - Throws: `local.io` with `EPIPE` if the reader closed the pipe, `local.disk_full`.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.base.baseAddress! + rest.startIndex, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
      } else if errno != EINTR {
        throw TargetFile.failure("write the output", errno)
      }
    }
  }
}
