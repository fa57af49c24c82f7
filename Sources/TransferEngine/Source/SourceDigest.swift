import TransferModel
import TransferProtocols

/// Ends long reads of sources whose results are no longer needed; polled from any thread before each buffer.
struct ReadStop: Sendable {
  let isAsked: @Sendable () -> Bool

  /// For reads that are never interrupted.
  static let never = ReadStop { false }
}

private let bufferSize = 256 << 10

extension ReadableFile {

  /// The digests of `range`. Blocking.
  /// - Throws: `engine.interrupted` if `stop` was requested; `source.short_read`, `source.io`.
  func digests(
    of range: ByteRange, _ algorithms: Set<DigestAlgorithm>, _ stop: ReadStop
  ) throws(Failure) -> [DigestAlgorithm: Digest] {
    var running = algorithms.map { ($0, RunningDigest($0)) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 4096)
    defer { buffer.deallocate() }
    var done: Int64 = 0
    while done < range.length {
      if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while reading the source") }
      let wanted = Int(min(Int64(buffer.count), range.length - done))
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      try fill(part, at: range.offset + done)
      for i in running.indices { running[i].1.update(UnsafeRawBufferPointer(part)) }
      done += Int64(wanted)
    }
    return Dictionary(uniqueKeysWithValues: running.map { ($0.0, $0.1.finish()) })
  }
}
