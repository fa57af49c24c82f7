internal import CCurl
internal import CSys
internal import HTTPTypes
internal import Synchronization
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One request while libcurl performs it. Belongs to the thread of its pool, and handles the callbacks of libcurl.
final class Exchange {
  let order: Order
  let easy: EasyHandle
  let startedNs: Int64
  private(set) var answer: AnswerCollector
  private(set) var stall: StallWatch?
  /// Must live as long as the handle uses them.
  private var fields: FieldList?
  /// nil when every address is allowed. Must live as long as the handle uses it.
  let addresses: AddressGuard?
  /// Whether ``addresses`` are those that are connected to; false if there is a proxy, which has its own.
  var checksAddresses = false

  /// The last error with which the system refused a socket; 0 if it did not.
  private(set) var socketError: Int32 = 0
  private(set) var bodyFailure: Failure?
  private(set) var offset: Int64 = 0
  /// Bytes of the answer's body that the sink has accepted.
  private(set) var received: Int64 = 0
  /// Whether the sink accepts the body of the answer; nil until it was asked.
  private var isForSink: Bool?
  /// How many of the next bytes the sink already has: those that it accepted of a piece before the rest had to wait.
  private var repeated = 0
  /// How often libcurl was about to send the request.
  private(set) var passes = 0
  /// `CURLINFO_REQUEST_SIZE` before the request: it also includes a CONNECT to a proxy.
  private(set) var requestSizeBefore = 0
  /// Body bytes that libcurl had read when it wanted to start again.
  private(set) var bytesInFirstPass: Int64?
  /// Whether the header of the final answer was complete before the whole body was sent.
  private(set) var isAnsweredEarly = false
  private(set) var hold: RateHold
  /// Whether the header of the answer had arrived by the last check for a stall.
  private var wasAnswered = false
  /// When libcurl read the last byte of the body.
  private(set) var sentNs: Int64?
  /// The own time of all requests of the thread, and its value at the last stall check.
  private let ownTime: OwnTime
  private var seenOwnNs: Int64
  /// Bytes moved in both directions, at the last stall check.
  private var seenBytes: Int64 = 0
  let length: Int64

  init(_ order: Order, easy: EasyHandle, limiter: RateLimiter, ownTime: OwnTime) {
    self.order = order
    self.easy = easy
    hold = RateHold(limiter, order.request.rateGroup)
    self.ownTime = ownTime
    seenOwnNs = ownTime.ns
    length = order.request.body.length ?? 0
    addresses = AddressGuard(order.request.addresses)
    answer = AnswerCollector(
      maxBodyBytes: order.request.limits.maxReplyBytes, hasBody: order.request.method != .head,
      onInterim: order.request.onInterim)
    startedNs = csys_awake_ns()
  }

  /// Prepares the handle, which has been reset before, for the request. Returns the error of libcurl, or else CURLE_OK.
  func configure(_ configuration: CurlConfiguration) -> CURLcode {
    fields = EasyOptions(request: order.request, isGuest: order.isGuest, configuration: configuration).set(on: easy)
    ExchangeCallbacks.set(for: self)
    return easy.refused
  }

  /// Fills libcurl's buffer; returns the result of libcurl's read callback. Never 0 before the end: libcurl would then
  /// wait with an unfinished body until the server gives up.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let left = length - offset
    guard left > 0, buffer.count > 0 else { return 0 }
    let allowed = allowance(min(buffer.count, Int(clamping: left)))
    guard allowed > 0 else { return Int(CURL_READFUNC_PAUSE) }
    switch readBody(UnsafeMutableRawBufferPointer(rebasing: buffer[..<allowed])) {
    case .success(let count):
      offset += Int64(count)
      if offset == length { sentNs = csys_awake_ns() }
      hold.use(count)
      publishBytes()
      return count
    case .failure(let failure):
      bodyFailure = failure
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// Whether libcurl may send the request now. libcurl repeats a request automatically when a reused connection was
  /// closed before the first byte of the answer, or when `Expect` was refused. But the server may have executed the
  /// first one, and callers record each request on the wire as a separate attempt. Therefore the second time is
  /// refused, which ends the transfer with code 42.
  func mayBegin() -> Bool {
    passes += 1
    if passes == 1 { requestSizeBefore = easy.long(CURLINFO_REQUEST_SIZE) }
    return passes == 1
  }

  /// Opens the socket, or returns CURL_SOCKET_BAD. libcurl would open the same one, but reports any error as a
  /// connection that was refused, and tells no errno.
  func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    if checksAddresses, addresses?.allows(address) == false { return -1 }
    let at = address.pointee
    let opened = socket(at.family, at.socktype | Int32(SOCK_CLOEXEC.rawValue), at.protocol)
    if opened < 0 { socketError = errno }
    return opened
  }

  /// libcurl rewinds the body to send the request a second time. It also rewinds before the first time if the handle's
  /// previous request was to be sent again and could not connect (libcurl 7.88.1: `curl_easy_reset` keeps that state);
  /// this has no meaning.
  func seek(to target: Int64) -> Bool {
    guard (0...length).contains(target) else { return false }
    // libcurl no longer knows how many of these bytes it sent.
    if bytesInFirstPass == nil, offset > 0 { bytesInFirstPass = offset }
    (offset, sentNs) = (target, nil)
    publishBytes()
    return true
  }

  private func publishBytes() { order.counter.value.store(offset + received, ordering: .relaxed) }

  /// Takes a line of an answer's header. False ends the transfer.
  func take(line: UnsafeRawBufferPointer) -> Bool {
    let wasAnswered = answer.status != 0
    guard answer.take(line: line) else { return false }
    guard !wasAnswered, answer.status != 0 else { return true }
    if length > 0 { isAnsweredEarly = easy.offset(CURLINFO_SIZE_UPLOAD_T) < length }
    return askSink()
  }

  /// Offers the body of the final answer to the sink. False ends the transfer.
  private func askSink() -> Bool {
    guard let sink = order.request.sink else { return true }
    switch ownTime.measured({ sink.begin(status: answer.status, fields: answer.fields) }) {
    case .success(let takesBody): isForSink = takesBody
    case .failure(let failure): bodyFailure = failure
    }
    return bodyFailure == nil
  }

  /// Takes a piece of the answer's body. nil when libcurl has to wait; it then delivers the same bytes again, in pieces
  /// of any length. False ends the transfer.
  func take(body piece: UnsafeRawBufferPointer) -> Bool? {
    guard isForSink == true, let sink = order.request.sink else { return answer.take(body: piece) }
    var next = min(repeated, piece.count)
    repeated -= next
    while next < piece.count {
      let allowed = allowance(piece.count - next)
      guard allowed > 0 else {
        repeated = next
        return nil
      }
      bodyFailure = ownTime.measured { sink.write(UnsafeRawBufferPointer(rebasing: piece[next..<next + allowed])) }
      guard bodyFailure == nil else { return false }
      next += allowed
      hold.use(allowed)
      received += Int64(allowed)
      publishBytes()
    }
    return true
  }

  private func readBody(_ buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Failure> {
    switch order.request.body {
    case .none: return .success(0)
    case .bytes(let bytes):
      bytes.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...].prefix(buffer.count)))
      }
      return .success(buffer.count)
    case .source(let source):
      let result = ownTime.measured { source.read(into: buffer, at: offset) }
      guard case .success(let count) = result else { return result }
      if count <= 0 { return .failure(Failure(.sourceShortRead, "the body ended at byte \(offset) of \(length)")) }
      if count > buffer.count {
        return .failure(Failure(.engineBug, "the body returned more bytes than were requested"))
      }
      return result
    }
  }

  /// How many bytes may be sent or received now. 0 when the transfer has to wait.
  private func allowance(_ wanted: Int) -> Int { hold.allowance(wanted, nowNs: csys_awake_ns()) }

  /// Lets libcurl continue after it had to wait. It delivers buffered data of the answer before this returns; if that
  /// is refused, the error is returned here, and the caller has to end the transfer (libcurl 7.88.1).
  func release() -> CURLcode {
    hold.release(nowNs: csys_awake_ns())
    let code = ccurl_resume(easy.raw)
    // The transfer no longer has a connection, so nothing is paused.
    return code == CURLE_BAD_FUNCTION_ARGUMENT ? CURLE_OK : code
  }

  /// Drops a grant of an older rate, so that the next bytes are booked under the new one.
  func dropGrant(unlessOf generation: Int) { hold.dropGrant(unlessOf: generation) }

  /// Returns the unused grant to the limiter, at the end.
  func settle() { hold.settle() }

  /// True when no bytes moved for too long because of the server, and not because of us.
  func isStalled(nowNs: Int64) -> Bool {
    let limits = order.request.limits
    guard limits.stallMs > 0 || answer.status != 0 else { return false }
    // Until the connection is established, the connect limit applies.
    guard easy.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 else { return false }
    let moved = easy.offset(CURLINFO_SIZE_UPLOAD_T) + answer.receivedBytes + received
    // A server that needs long after its header sends a space from time to time, to keep the connection alive.
    let isAnswered = answer.status != 0
    // The wait for the header has a separate limit; the stall limit of the body starts when the header arrives.
    let isExcused = hold.hasWaited() || (isAnswered && !wasAnswered) || (limits.stallMs == 0 && moved != seenBytes)
    (wasAnswered, seenBytes) = (isAnswered, moved)
    if stall == nil { stall = StallWatch(limitMs: stallMs, nowNs: nowNs) }
    let ownNs = ownTime.ns - seenOwnNs
    seenOwnNs = ownTime.ns
    return stall?.isStalled(moved: moved, isExcused: isExcused, ownNs: ownNs, nowNs: nowNs, limitMs: answerMs) ?? false
  }

  /// The stall limit. It is `pauseMs` for requests without one: it applies once the header of the answer has arrived,
  /// because the rest must follow.
  var stallMs: Int64 { order.request.limits.stallMs > 0 ? order.request.limits.stallMs : order.request.limits.pauseMs }

  /// The limit that replaces `stallMs` while the answer is awaited, if there is one.
  var answerMs: Int64? {
    let isAwaited = answer.status == 0 && easy.offset(CURLINFO_SIZE_UPLOAD_T) >= length
    return isAwaited ? order.request.limits.answerMs : nil
  }
}
