internal import HTTPTypes
internal import TransferModel

/// Assembles an answer from the lines and pieces that libcurl delivers. Its memory is bounded, whatever a server sends.
struct AnswerCollector {
  /// All header lines of an answer together, in bytes. Other clients grew to 280 MB with a server that sends more.
  static let maxHeaderBytes = 256 << 10
  /// The header lines of all interim answers to a request: servers of resumable uploads report progress with them.
  static let maxInterimBytes = 16 << 20
  /// How many bytes of the body of an error answer are read: only its code and message are used.
  static let maxErrorBytes = 64 << 10
  /// How much of the excess body of a success is read and dropped to keep the connection; beyond it a new connection is
  /// cheaper.
  static let maxDroppedBytes = 1 << 20

  private enum Phase { case beforeBlock, inBlock, complete }

  private(set) var status = 0
  private(set) var fields = HTTPFields()
  private(set) var body: [UInt8] = []
  private(set) var isBodyTruncated = false
  /// The transfer was ended in the body, because the rest of it is of no use.
  private(set) var isEnough = false
  /// Why the collector refused to continue; nil if it did not.
  private(set) var refusal: RequestRefusal?
  /// Header and body bytes together, including dropped ones.
  private(set) var receivedBytes: Int64 = 0

  private let maxBodyBytes: Int
  /// False for an answer to HEAD: it has no body, so its Content-Length does not delimit one.
  private let hasBody: Bool
  private var phase = Phase.beforeBlock
  private var blockStatus = 0
  private var blockFields = HTTPFields()
  private var headerBytes = 0
  private var interimBytes = 0
  private var droppedBytes = 0
  private let onInterim: (@Sendable (InterimReply) -> Void)?

  init(maxBodyBytes: Int, hasBody: Bool = true, onInterim: (@Sendable (InterimReply) -> Void)? = nil) {
    self.maxBodyBytes = max(0, maxBodyBytes)
    self.hasBody = hasBody
    self.onInterim = onInterim
  }

  /// Takes one header line with its line end. False ends the transfer.
  mutating func take(line: UnsafeRawBufferPointer) -> Bool {
    receivedBytes += Int64(line.count)
    headerBytes += line.count
    guard headerBytes <= Self.maxHeaderBytes else {
      refusal = RequestRefusal(code: 23, message: "the header of the answer is longer than 256 KiB")
      return false
    }
    let content = Self.withoutLineEnd(line)
    if content.starts(with: "HTTP/".utf8) {
      beginBlock(content)
    } else if phase == .inBlock {
      content.isEmpty ? endBlock() : takeField(content)
    }
    return refusal == nil
  }

  /// Takes a piece of the body. False ends the transfer.
  mutating func take(body piece: UnsafeRawBufferPointer) -> Bool {
    receivedBytes += Int64(piece.count)
    let isError = blockStatus >= 300
    let most = isError ? min(maxBodyBytes, Self.maxErrorBytes) : maxBodyBytes
    let kept = min(piece.count, most - body.count)
    body.append(contentsOf: piece.prefix(kept))
    guard kept < piece.count else { return true }
    isBodyTruncated = true
    droppedBytes += piece.count - kept
    isEnough = isError || droppedBytes > Self.maxDroppedBytes
    return !isEnough
  }

  /// A new status line makes everything before it interim: 1xx, or a 417 that libcurl handled itself.
  private mutating func beginBlock(_ line: Slice<UnsafeRawBufferPointer>) {
    phase = .inBlock
    status = 0
    fields = [:]
    body.removeAll()
    blockFields = [:]
    let code = line.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
    blockStatus = code.count == 3 ? Int(String(decoding: code, as: UTF8.self)) ?? 0 : 0
  }

  private mutating func endBlock() {
    guard blockStatus >= 200 else {
      phase = .beforeBlock
      interimBytes += headerBytes
      headerBytes = 0
      if interimBytes > Self.maxInterimBytes {
        refusal = RequestRefusal(code: 23, message: "the interim answers do not end")
      }
      if blockStatus > 100 { onInterim?(InterimReply(status: blockStatus, fields: blockFields)) }
      return
    }
    if hasBody, ![204, 304].contains(blockStatus), blockFields.hasUncertainEnd {
      refusal = RequestRefusal(
        code: 8, message: "the Content-Length of the answer is not a single number, so its end is unknown")
      return
    }
    status = blockStatus
    fields = blockFields
    phase = .complete
  }

  private mutating func takeField(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let colon = line.firstIndex(of: 0x3A),
      let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
    else { return }
    blockFields.append(HTTPField(name: name, lenientValue: Self.trimmed(line[(colon + 1)...])))
  }

  private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    var content = line[...]
    while let last = content.last, last == 0x0A || last == 0x0D { content = content.dropLast() }
    return content
  }

  private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    var value = value.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
    return Array(value)
  }
}

extension HTTPFields {
  /// The end of the body is unknown, so the answer must be discarded (RFC 9112 section 6.3): its lengths differ or are
  /// not numbers. Equal lengths count as one; in a chunked answer they are ignored.
  fileprivate var hasUncertainEnd: Bool {
    guard contains(.contentLength), !isChunked else { return false }
    let lengths = self[values: .contentLength].flatMap { value in
      value.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " && $0 != "\t" } }
    }
    let isNumber = lengths[0].utf8.allSatisfy { (0x30...0x39).contains($0) } && (1...18).contains(lengths[0].utf8.count)
    return !isNumber || lengths.contains { $0 != lengths[0] }
  }
}
