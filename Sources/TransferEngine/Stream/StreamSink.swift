import HTTPTypes
import TransferModel
import TransferProtocols

/// Passes the body of an answer to a ``StreamOutput``. If the server sends the beginning of a file as a part (206), it
/// is held back until the rest is known to be available too: at most the length of the first request.
final class StreamSink: BodySink, @unchecked Sendable {
  typealias Content = @Sendable (_ status: Int, _ fields: HTTPFields) -> AnswerContent
  typealias Take = @Sendable (UnsafeRawBufferPointer) -> Failure?
  /// The failure if these bytes are not those that were passed on at this offset.
  typealias Difference = @Sendable (UnsafeRawBufferPointer, Int64) -> Failure?

  private let range: ByteRange
  private let isBeginning: Bool
  private let content: Content
  private let begun: @Sendable (_ status: Int, _ fields: HTTPFields) -> Void
  private let take: Take
  private let difference: Difference
  // Touched by one thread at a time: the transport's while the request runs, then the one that waits for its reply.
  /// Bytes held back; nil if bytes are passed on at once.
  private(set) var held: [UInt8]?
  private var position: Int64 = 0
  private var end: Int64?
  /// For a body of unknown length.
  private var longest: LongestBody?
  /// Bytes of the range received so far, from its start.
  private(set) var taken: Int64 = 0
  /// The meaning of an answer whose body was refused.
  private(set) var refusal: Interpretation?

  init(
    _ range: ByteRange, isBeginning: Bool, content: @escaping Content,
    begun: @escaping @Sendable (Int, HTTPFields) -> Void, difference: @escaping Difference, take: @escaping Take
  ) {
    (self.range, self.isBeginning, self.content) = (range, isBeginning, content)
    (self.begun, self.difference, self.take) = (begun, difference, take)
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
    case .bytes(let from, let to, _):
      guard from <= range.offset else {
        return .failure(Failure(.engineBug, "the protocol accepted bytes from \(from) on as content of \(range)"))
      }
      (position, end) = (from, to)
      if isBeginning, status == 206 { held = [] }
      begun(status, fields)
      return .success(true)
    case .bytesToEnd(let most, let meaning):
      longest = LongestBody(most: most, meaning)
      (position, end) = (0, nil)
      begun(status, fields)
      return .success(true)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    if let end, position + Int64(bytes.count) > end {
      return Failure(.protoBadReply, "the body of the answer is longer than its header said")
    }
    if let longest, let failure = longest.failure(at: position + Int64(bytes.count)) {
      refusal = longest.meaning
      return failure
    }
    // Repeated bytes were passed on before.
    let again = Int(min(Int64(bytes.count), max(0, range.offset - position)))
    if let failure = difference(UnsafeRawBufferPointer(rebasing: bytes[..<again]), position) { return failure }
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

  /// The body has the length that the header announced.
  var isComplete: Bool { position == end ?? position }
}
