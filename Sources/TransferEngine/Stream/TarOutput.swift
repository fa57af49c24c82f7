public import TransferModel
public import TransferProtocols

/// Writes files sequentially into an archive (``TarHeader``). Their sizes must be known before their first byte.
public final class TarOutput: StreamOutput, @unchecked Sendable {
  private let output: any StreamOutput
  private let nowMs: Int64
  private var file: (name: NameBytes, size: Int64?) = (NameBytes(""), nil)
  /// Bytes of the file that are still missing.
  private var missing: Int64 = 0
  private var size: Int64 = 0
  /// The padding of the last block is not written yet.
  private var isOpen = false

  /// - Parameter nowMs: the time of files without a time from their server, in milliseconds since 1970 UTC.
  public init(_ output: any StreamOutput, nowMs: Int64) { (self.output, self.nowMs) = (output, nowMs) }

  /// Sets the name of the next file, and its `size` if the server may not send it.
  public func open(_ name: NameBytes, size: Int64?) { file = (name, size) }

  public func begin(_ head: AnswerHead) throws(Failure) {
    guard let size = head.size ?? file.size else {
      throw Failure(
        .protoUnsupported, "the server does not report the size of the file, which precedes it in an archive")
    }
    (self.size, missing, isOpen) = (size, size, true)
    try put(TarHeader.bytes(file.name, size: size, modifiedMs: head.modifiedMs ?? nowMs))
  }

  public func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard Int64(bytes.count) <= missing else {
      throw Failure(.protoBadReply, "the server sent more than the announced \(size) bytes of the file")
    }
    missing -= Int64(bytes.count)
    try output.write(bytes)
  }

  /// Ends a complete file.
  public func close() throws(Failure) {
    guard missing == 0 else { throw Failure(.protoBadReply, "\(missing) bytes of the file are missing") }
    try put(TarHeader.padding(size))
    isOpen = false
  }

  /// Ends the output so that no reader accepts it as a complete archive.
  public func breakOff() throws(Failure) {
    // A file with missing bytes is detected anyway.
    guard missing == 0 else { return }
    if isOpen { try put(TarHeader.padding(size)) }
    try put(TarHeader.brokenOff)
  }

  /// Ends a complete archive.
  public func end() throws(Failure) { try put(TarHeader.end) }

  private func put(_ bytes: [UInt8]) throws(Failure) {
    try bytes.withUnsafeBufferPointer { buffer throws(Failure) in try output.write(UnsafeRawBufferPointer(buffer)) }
  }
}
