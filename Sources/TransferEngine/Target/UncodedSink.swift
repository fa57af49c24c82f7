import CZlib
import HTTPTypes
import TransferModel

/// Removes the coding gzip (RFC 1952) from the body of an answer, for a sink that takes the file itself. libcurl could
/// do that, but 7.88.1 takes compressed data that was cut off for complete.
final class UncodedSink: BodySink, @unchecked Sendable {
  private static let blockSize = 64 << 10
  private static let codings: Set<String> = ["gzip", "x-gzip"]
  /// Bytes that may come in a row without any content: padding behind the data, or members without any.
  private static let mostWithoutContent = 1 << 20

  private let sink: any BodySink
  // Touched by one thread at a time: the transport's while the request runs, then the one that gets its reply.
  /// nil if the body has no coding.
  private var inflater: OpaquePointer?
  private var block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var isBegun = false
  /// Behind the end of a member of the stream.
  private var isBetween = true
  /// The header announces an empty body (`Content-Length: 0`).
  private var isEmpty = false
  private var withoutContent = 0

  init(_ sink: any BodySink) { self.sink = sink }

  deinit {
    if let inflater { czlib_close(inflater) }
    block.deallocate()
  }

  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> {
    let begun = sink.begin(status: status, fields: fields)
    guard case .success(true) = begun, let coding = fields[.contentEncoding],
      Self.codings.contains(coding.lowercased())
    else { return begun }
    if let problem = czlib_load() {
      return .failure(
        Failure(.localIO, "the body is compressed with gzip, and zlib is missing: \(String(cString: problem))"))
    }
    inflater = czlib_open()
    guard inflater != nil else { return .failure(Failure(.localIO, "no memory is left to decompress the body")) }
    block = .allocate(byteCount: Self.blockSize, alignment: 16)
    isEmpty = fields[.contentLength] == "0"
    return begun
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    guard let inflater else { return sink.write(bytes) }
    var rest = bytes[...]
    var hasMore = true
    while hasMore {
      if isBetween {
        // Zeros after a member are padding, as gzip itself accepts.
        if isBegun {
          let padded = rest.count
          rest = rest.drop { $0 == 0 }
          withoutContent += padded - rest.count
        }
        if rest.isEmpty { return withoutContent > Self.mostWithoutContent ? Self.noContent : nil }
        czlib_restart(inflater)
        (isBegun, isBetween) = (true, false)
      }
      let input = UnsafeRawBufferPointer(rebasing: rest)
      let step = czlib_inflate(inflater, input.baseAddress, input.count, block.baseAddress, block.count)
      rest = rest.dropFirst(step.taken)
      withoutContent = step.given > 0 ? 0 : withoutContent + step.taken
      if withoutContent > Self.mostWithoutContent { return Self.noContent }
      if step.given > 0, let failure = sink.write(UnsafeRawBufferPointer(rebasing: block[..<step.given])) {
        return failure
      }
      switch step.verdict {
      // A full block may leave bytes behind that need no further input.
      case .more: hasMore = !rest.isEmpty || step.given == block.count
      case .end: isBetween = true
      case .corrupt: return Failure(.protoBadReply, "the body is not what its coding gzip says")
      case .noMemory: return Failure(.localIO, "no memory is left to decompress the body")
      }
    }
    return nil
  }

  private static let noContent = Failure(.protoBadReply, "the compressed body goes on without any content")

  /// The reply, with the error of a body that was cut off where only its coding shows it. Even an empty file has
  /// compressed data.
  func judged(_ reply: TransferReply) -> TransferReply {
    guard inflater != nil, isBegun ? !isBetween : !isEmpty, reply.curlCode == 0 else { return reply }
    var reply = reply
    (reply.curlCode, reply.curlMessage) = (18, "the compressed data has no end")
    return reply
  }
}

extension TransferRequest {
  /// Puts what removes the codings before the sink, if that is wanted.
  mutating func removeCodings() -> UncodedSink? {
    guard removesCodings, let sink else { return nil }
    let uncoded = UncodedSink(sink)
    self.sink = uncoded
    return uncoded
  }
}
