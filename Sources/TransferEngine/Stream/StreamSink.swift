import HTTPTypes
import TransferModel
import TransferProtocols

/// The body of an answer on its way to a ``StreamOutput``. The beginning of a file that a server sends as a part is
/// kept back until it is known that the rest can be had too: at most as much as the first request asks for.
final class StreamSink: BodySink, @unchecked Sendable {
  typealias Content = @Sendable (_ status: Int, _ fields: HTTPFields) -> AnswerContent
  typealias Take = @Sendable (UnsafeRawBufferPointer) -> Failure?

  private let range: ByteRange
  private let isBeginning: Bool
  private let content: Content
  private let begun: @Sendable (_ status: Int, _ fields: HTTPFields) -> Void
  private let take: Take
  // Touched by one thread at a time: the transport's while the request runs, then the one that waits for its reply.
  /// What is kept back; nil when bytes go on at once.
  private(set) var held: [UInt8]?
  private var position: Int64 = 0
  private var end: Int64?
  /// Bytes of the range, from its start.
  private(set) var taken: Int64 = 0
  /// What an answer means of which nothing was taken.
  private(set) var refusal: Interpretation?

  init(
    _ range: ByteRange, isBeginning: Bool, content: @escaping Content,
    begun: @escaping @Sendable (Int, HTTPFields) -> Void, take: @escaping Take
  ) {
    (self.range, self.isBeginning, self.content, self.begun, self.take) = (range, isBeginning, content, begun, take)
  }

  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> {
    switch content(status, fields) {
    case .other: return .success(false)
    case .refused(let meaning):
      refusal = meaning
      guard case .failed(let failure, _) = meaning.outcome else {
        preconditionFailure("an answer was refused without a failure")
      }
      return .failure(failure)
    case .bytes(let from, let to):
      guard from <= range.offset else {
        return .failure(Failure(.engineBug, "the protocol took what begins at \(from) for content of \(range)"))
      }
      (position, end) = (from, to)
      if isBeginning, status == 206 { held = [] }
      begun(status, fields)
      return .success(true)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    if let end, position + Int64(bytes.count) > end {
      return Failure(.protoBadReply, "the body of the answer is longer than its header said")
    }
    // What comes again is of the same version, and went on before.
    let again = Int(min(Int64(bytes.count), max(0, range.offset - position)))
    let next = UnsafeRawBufferPointer(rebasing: bytes[again...])
    position += Int64(bytes.count)
    guard !next.isEmpty else { return nil }
    taken += Int64(next.count)
    if held != nil {
      held?.append(contentsOf: next)
      return nil
    }
    return take(next)
  }

  /// All came that the header announced.
  var isComplete: Bool { position == end ?? position }
}
