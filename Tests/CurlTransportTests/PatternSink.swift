import CurlTransport
import Glibc
import HTTPTypes
import TransferModel

/// Takes a body whose bytes repeat those of ``period``, so that a byte that is lost, repeated or misplaced is noticed.
final class PatternSink: BodySink {
  struct Seen {
    var statuses: [Int] = []
    var fields = HTTPFields()
    var pieces = 0
    var bytes: Int64 = 0
    var largestPiece = 0
    var isInOrder = true
  }

  static let failure = Failure(.localIO, "disk on fire", systemError: 5)
  /// Longer than a buffer of libcurl, and not a multiple of one.
  static let period: [UInt8] = PatternBody.bytes((1 << 18) - 1)

  private let refuses: Set<Int>
  private let failsAtBegin: Bool
  private let failsAt: Int64
  private let onBytes: @Sendable (Int64) -> Void
  private let state = Lock(Seen())

  /// Wants no body for a status in `refuses`, and fails once, at the byte `failsAt`.
  init(
    refuses: Set<Int> = [404], failsAtBegin: Bool = false, failsAt: Int64 = .max,
    onBytes: @escaping @Sendable (Int64) -> Void = { _ in }
  ) {
    self.refuses = refuses
    self.failsAtBegin = failsAtBegin
    self.failsAt = failsAt
    self.onBytes = onBytes
  }

  var seen: Seen { state.withLock { $0 } }

  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> {
    state.withLock {
      $0.statuses.append(status)
      $0.fields = fields
    }
    return failsAtBegin ? .failure(Self.failure) : .success(!refuses.contains(status))
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    let sum = state.withLock { seen in
      seen.pieces += 1
      seen.largestPiece = max(seen.largestPiece, bytes.count)
      seen.isInOrder = seen.isInOrder && Self.isExpected(bytes, at: seen.bytes)
      seen.bytes += Int64(bytes.count)
      return seen.bytes
    }
    onBytes(sum)
    return sum > failsAt && sum - Int64(bytes.count) <= failsAt ? Self.failure : nil
  }

  private static func isExpected(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
    period.withUnsafeBytes { period in
      var (done, start) = (0, Int(offset % Int64(period.count)))
      while done < bytes.count {
        let count = min(bytes.count - done, period.count - start)
        guard memcmp(bytes.baseAddress! + done, period.baseAddress! + start, count) == 0 else { return false }
        (done, start) = (done + count, 0)
      }
      return true
    }
  }
}

extension ServerConnection {
  /// Sends the first `count` bytes that a ``PatternSink`` expects. Returns false if the peer is gone.
  @discardableResult
  func sendPattern(_ count: Int) -> Bool {
    var left = count
    while left > 0 {
      let piece = PatternSink.period.prefix(left)
      guard send(Array(piece)) else { return false }
      left -= piece.count
    }
    return true
  }

  /// Sends the same as chunks of these sizes, without the last chunk.
  @discardableResult
  func sendPattern(chunks: [Int]) -> Bool {
    var start = 0
    for size in chunks {
      let bytes = (start..<start + size).map { PatternSink.period[$0 % PatternSink.period.count] }
      guard send("\(String(size, radix: 16))\r\n"), send(bytes), send("\r\n") else { return false }
      start += size
    }
    return true
  }
}

func get(_ url: String, into sink: PatternSink?) -> TransferRequest {
  var request = TransferRequest(method: .get, url: url, limits: .body)
  request.sink = sink
  return request
}

/// The header of an answer with a body of `count` bytes.
func header(_ status: String, _ fields: String = "", length: Int) -> String {
  "HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n\(fields)\r\n"
}
