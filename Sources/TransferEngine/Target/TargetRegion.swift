import HTTPTypes
import TransferModel
import TransferProtocols

/// A byte range of a partial file as the sink of an answer: written straight from libcurl's buffer, digested in the
/// same pass. Nothing is taken of an answer that its protocol does not know for content of this range.
final class TargetRegion: BodySink, @unchecked Sendable {
  typealias Content = @Sendable (_ status: Int, _ fields: HTTPFields) -> Result<ByteRange?, Failure>

  let file: TargetFile
  let range: ByteRange
  private let content: Content
  private let algorithm: DigestAlgorithm
  /// Of what is stored of the chunk before the range; nil where the range begins it.
  private let head: Digest?
  // Touched by one thread at a time: the transport's while the request runs, the engine's after its reply.
  private var running: RunningDigest
  private var taken: Int64 = 0

  init(
    _ file: TargetFile, _ range: ByteRange, head: Digest?, _ algorithm: DigestAlgorithm, content: @escaping Content
  ) {
    (self.file, self.range, self.head, self.algorithm, self.content) = (file, range, head, algorithm, content)
    running = RunningDigest(algorithm)
  }

  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> {
    switch content(status, fields) {
    case .failure(let failure): return .failure(failure)
    case .success(nil): return .success(false)
    case .success(let found?):
      guard found.offset == range.offset, found.end <= range.end else {
        return .failure(Failure(.engineBug, "the protocol took \(found) for content of \(range)"))
      }
      return .success(true)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    guard taken + Int64(bytes.count) <= range.length else {
      return Failure(.protoBadReply, "the server sent more than the \(range.length) bytes that were asked for")
    }
    do throws(Failure) { try file.write(bytes, at: range.offset + taken) } catch { return error }
    running.update(bytes)
    taken += Int64(bytes.count)
    return nil
  }

  /// What was taken is on the disk when this returns nil. Blocking; after the reply.
  func settle() -> Failure? {
    guard taken > 0 else { return nil }
    do throws(Failure) { try file.sync() } catch { return error }
    return nil
  }

  /// The digest of the chunk from its start, when the range came whole; after the reply.
  func digest() -> Digest? {
    guard taken == range.length else { return nil }
    let digest = running.finish()
    return head.map { RunningDigest.combine($0, digest, secondLength: taken) } ?? digest
  }
}
