public import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Takes the bytes of a file one after the other. Called from one thread at a time; may block, which holds up the file.
public protocol StreamOutput: AnyObject, Sendable {
  /// Before the first byte of a file.
  func begin(_ head: AnswerHead) throws(Failure)
  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure)
}

/// An open descriptor: standard output.
public final class DescriptorOutput: StreamOutput {
  private let descriptor: Int32

  /// - Parameter descriptor: stays the caller's.
  public init(_ descriptor: Int32) { self.descriptor = descriptor }

  public func begin(_ head: AnswerHead) {}

  /// - Throws: `local.io` with `EPIPE` when nobody reads any more, `local.disk_full`.
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
