import TransferModel

/// Receives the next bytes of a body; they are valid only during the call.
typealias BodyConsumer = (UnsafeRawBufferPointer) throws(ExchangeEnd) -> Void

/// The body of one request as it arrives, whatever its framing.
struct RequestBody {
  private enum State {
    /// The remaining bytes of a body with a known length.
    case counted(Int64)
    case chunkHead
    case chunk(Int64)
    case done
  }

  private let socket: Socket
  private let limit: Int64
  private var state: State
  private(set) var received: Int64 = 0
  /// The trailer fields of a chunked body.
  private(set) var trailers: [(name: String, value: String)] = []

  init(_ head: RequestHead, _ socket: Socket, limit: Int64) {
    self.socket = socket
    self.limit = limit
    switch head.framing {
    case .none, .length(0): state = .done
    case .length(let length): state = .counted(length)
    case .chunked: state = .chunkHead
    }
  }

  var isComplete: Bool { if case .done = state { true } else { false } }

  /// The remaining bytes; nil when the client did not state the length.
  var remaining: Int64? {
    switch state {
    case .done: 0
    case .counted(let left): left
    default: nil
    }
  }

  /// Passes the next bytes, at most 256 KiB, to `consume`; with nil they are dropped in the kernel. False at the end.
  mutating func next(
    _ pacer: inout Pacer, _ consume: BodyConsumer?
  ) throws(ExchangeEnd) -> Bool {
    if case .chunkHead = state { try readChunkHead() }
    guard let left = bytesLeftInPiece else { return false }
    let allowed = try pacer.allowance(Int(min(left, consume == nil ? 4 << 20 : 256 << 10)))
    let count: Int
    if let consume {
      let bytes = try socket.bytes(atMost: allowed)
      count = bytes.count
      do throws(ExchangeEnd) {
        try consume(bytes)
      } catch {
        // They do not count as received, but they have left the socket.
        try advance(by: Int64(count))
        throw error
      }
    } else {
      count = try socket.skip(atMost: allowed)
    }
    received += Int64(count)
    try advance(by: Int64(count))
    try pacer.note(count)
    return true
  }

  private var bytesLeftInPiece: Int64? {
    switch state {
    case .counted(let left), .chunk(let left): left
    default: nil
    }
  }

  private mutating func advance(by count: Int64) throws(ExchangeEnd) {
    switch state {
    case .counted(let left): state = left == count ? .done : .counted(left - count)
    case .chunk(let left) where left > count: state = .chunk(left - count)
    case .chunk:
      guard try socket.line(limit: 2).isEmpty else { throw .refuse(400, "a chunk is longer than its size") }
      state = .chunkHead
    default: break
    }
  }

  private mutating func readChunkHead() throws(ExchangeEnd) {
    let line = try socket.line(limit: 4096)
    let digits = String(decoding: line.prefix { $0 != 0x3B && $0 != 0x20 }, as: UTF8.self)
    guard !digits.isEmpty, digits.utf8.count <= 15, digits.allSatisfy(\.isHexDigit), let size = Int64(digits, radix: 16)
    else { throw .refuse(400, "a chunk size is malformed") }
    if received + size > limit { throw .refuse(413, "the body is longer than \(limit) bytes") }
    if size > 0 { state = .chunk(size) } else { try readTrailers() }
  }

  private mutating func readTrailers() throws(ExchangeEnd) {
    var lines: [ArraySlice<UInt8>] = []
    var total = 0
    while true {
      let line = try socket.line(limit: Socket.headLimit)
      if line.isEmpty { break }
      total += line.count
      if total > Socket.headLimit { throw .refuse(431, "the trailers are longer than 64 KiB") }
      lines.append(line[...])
    }
    trailers = try RequestHead.fields(lines[...])
    state = .done
  }
}
