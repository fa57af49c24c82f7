internal import CCurl
internal import CSys
internal import HTTPTypes
internal import TransferModel

/// A request that has ended, until its handle is reset: what is known of it becomes its reply.
struct EndedExchange {
  /// How a request ended.
  enum End {
    case performed(CURLcode)
    case stalled
    case cancelled
  }

  private let exchange: Exchange
  private let end: End
  private var easy: EasyHandle { exchange.easy }
  private var answer: AnswerCollector { exchange.answer }

  init(_ exchange: Exchange, _ end: End) { (self.exchange, self.end) = (exchange, end) }

  /// The reply, with everything that is known at the end.
  var reply: TransferReply {
    var reply = TransferReply()
    reply.status = answer.status
    reply.fields = answer.fields
    reply.body = answer.body
    reply.bodyFailure = exchange.bodyFailure
    describe(in: &reply)
    if exchange.addresses?.isUntold == true, answer.status == 0, reply.curlCode != 0 {
      reply.curlCode = Int32(CURLE_COULDNT_RESOLVE_HOST.rawValue)
    }
    reply.isBodyTruncated = answer.isBodyTruncated || (answer.status != 0 && reply.curlCode != 0)
    reply.bytesSent = exchange.bytesInFirstPass ?? min(exchange.offset, easy.offset(CURLINFO_SIZE_UPLOAD_T))
    reply.bytesReceived = exchange.received
    let isBegun =
      exchange.passes > 0 && (reply.bytesSent > 0 || easy.long(CURLINFO_REQUEST_SIZE) > exchange.requestSizeBefore)
    reply.requestMayHaveArrived = isBegun && reply.curlCode != TLSRefusal.code
    reply.isBodyIncomplete = exchange.length > 0 && (exchange.isAnsweredEarly || reply.bytesSent < exchange.length)
    reply.proxyStatus =
      exchange.passes == 0 && reply.curlCode != 0 ? refusal(ofProxy: easy.long(CURLINFO_HTTP_CONNECTCODE)) : 0
    reply.timing = timing()
    reply.longestPauseMs = (exchange.stall?.longestPauseNs ?? 0) / 1_000_000
    reply.remoteIP = easy.text(CURLINFO_PRIMARY_IP)
    reply.httpVersion = answer.status == 0 ? "" : Self.httpVersion(easy.long(CURLINFO_HTTP_VERSION))
    reply.isReusedConnection = !reply.remoteIP.isEmpty && (exchange.passes > 1 || easy.long(CURLINFO_NUM_CONNECTS) == 0)
    return reply
  }

  private func refusal(ofProxy status: Int) -> Int { (200..<300).contains(status) ? 0 : status }

  private func describe(in reply: inout TransferReply) {
    switch end {
    // The answer is complete as far as it is of use.
    case .performed(CURLE_WRITE_ERROR) where answer.isEnough: return
    case .performed(let code): describe(code, in: &reply)
    case .stalled:
      reply.isStalled = true
      reply.curlCode = Int32(CURLE_OPERATION_TIMEDOUT.rawValue)
      let seconds = Double(exchange.answerMs ?? exchange.stallMs) / 1000
      let least =
        exchange.order.request.limits.stallMs > 0
        ? "fewer than \(StallWatch.leastBytesPerSecond) bytes a second" : "nothing"
      reply.curlMessage = "\(least) moved for \(seconds) s"
    case .cancelled:
      reply.isCancelled = true
      reply.curlCode = Int32(CURLE_ABORTED_BY_CALLBACK.rawValue)
      reply.curlMessage = "cancelled"
    }
  }

  private func describe(_ code: CURLcode, in reply: inout TransferReply) {
    reply.curlCode = answer.refusal?.code ?? Int32(code.rawValue)
    guard code != CURLE_OK else { return }
    if code == CURLE_OUT_OF_MEMORY, answer.refusal == nil, answer.receivedBytes > 0, answer.status == 0 {
      // libcurl 7.88.1 calls a line of 100 KB "Out of memory"; CURLE_TOO_LARGE is that of later versions.
      reply.curlCode = 100
      reply.curlMessage = "a header line of the answer is too long"
      return
    }
    reply.curlMessage =
      answer.refusal?.message ?? exchange.addresses?.message
      ?? FailureText.withoutSecrets(
        easy.message(for: code), otherwise: EasyHandle.generalMessage(for: code), exchange.order.request)
    describeTLSRefusal(code, in: &reply)
    reply.isAddressRefused = exchange.addresses?.refused != nil && answer.status == 0
    if hasNoLookup(code) {
      reply.isLocalShortage = true
      reply.curlMessage =
        "look up the name of the server: no thread or descriptor is left; raise the limits (ulimit -u, ulimit -n)"
    }
    reply.systemError = Int32(truncatingIfNeeded: easy.long(CURLINFO_OS_ERRNO))
    describeShortage(code, in: &reply)
    guard exchange.passes > 1, answer.refusal == nil, exchange.bodyFailure == nil else { return }
    reply.curlMessage = "the server closed the reused connection before it answered"
    reply.systemError = 0
  }

  /// An alert of TLS that refuses the client, before any byte of an answer on a new connection: nothing was read.
  private func describeTLSRefusal(_ code: CURLcode, in reply: inout TransferReply) {
    guard code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR, answer.refusal == nil, exchange.passes == 1,
      answer.receivedBytes == 0, easy.long(CURLINFO_NUM_CONNECTS) > 0,
      let alert = TLSRefusal.alert(in: easy.message(for: code))
    else { return }
    reply.curlCode = TLSRefusal.code
    reply.curlMessage = "the server demands a certificate of the client, and transfers has none (TLS alert: \(alert))"
  }

  /// With one socket more, the request might have succeeded, also if another address of the server refused it: nothing
  /// is known about the server.
  private func describeShortage(_ code: CURLcode, in reply: inout TransferReply) {
    guard code == CURLE_COULDNT_CONNECT, exchange.addresses?.refused == nil,
      let words = FailureText.shortage(exchange.socketError)
    else {
      return
    }
    reply.isLocalShortage = true
    reply.systemError = exchange.socketError
    reply.curlMessage = "open a connection: \(words)"
  }

  /// libcurl looks up each name on a thread with a pair of descriptors. If there are none, it reports a name that does
  /// not exist (libcurl 7.88.1).
  private func hasNoLookup(_ code: CURLcode) -> Bool {
    code == CURLE_COULDNT_RESOLVE_HOST && easy.message(for: code).contains("thread failed to start")
  }

  /// -1 for phases that were not reached. The total is measured here, because libcurl has none for a cancelled request.
  private func timing() -> TransferReply.Timing {
    var timing = TransferReply.Timing()
    timing.dnsMs = milliseconds(CURLINFO_NAMELOOKUP_TIME_T)
    timing.connectMs = milliseconds(CURLINFO_CONNECT_TIME_T)
    timing.tlsMs = milliseconds(CURLINFO_APPCONNECT_TIME_T)
    timing.firstByteMs = answer.receivedBytes > 0 ? milliseconds(CURLINFO_STARTTRANSFER_TIME_T) : -1
    let nowNs = csys_awake_ns()
    timing.totalMs = (nowNs - exchange.startedNs) / 1_000_000
    timing.sentMs = exchange.sentNs.map { ($0 - exchange.startedNs) / 1_000_000 } ?? -1
    timing.heldMs = exchange.hold.totalNs(until: nowNs) / 1_000_000
    return timing
  }

  private func milliseconds(_ info: CURLINFO) -> Int64 {
    let microseconds = easy.offset(info)
    return microseconds > 0 ? microseconds / 1000 : -1
  }

  private static func httpVersion(_ version: Int) -> String {
    switch version {
    case Int(CURL_HTTP_VERSION_1_0): "1.0"
    case Int(CURL_HTTP_VERSION_1_1): "1.1"
    case Int(CURL_HTTP_VERSION_2_0): "2"
    case Int(CURL_HTTP_VERSION_3): "3"
    default: ""
    }
  }
}
