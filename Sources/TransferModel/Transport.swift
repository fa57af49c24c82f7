import HTTPTypes

/// One complete HTTP request: only `Host`, `Content-Length` and `User-Agent` are added to it.
package struct TransferRequest: Sendable {
  package var method: HTTPRequest.Method
  /// Absolute `http` or `https` URL, already percent-encoded; sent unchanged (dot segments stay).
  package var url: String
  /// The transport refuses values with CR, LF or NUL.
  package var fields: HTTPFields
  package var body: RequestBody
  package var limits: RequestLimits
  /// Requests with different labels never share a connection. A label for people, never a secret:
  /// `aws:profile/default`.
  package var credentialLabel: String
  /// The group whose rate limits this body, besides the limit for all.
  package var rateGroup: RateGroup?
  /// Bytes before and after the source in the body: the frame of a form. Applied by the code that adds the source.
  package var envelope: BodyEnvelope?
  /// The addresses to which the connection may be made.
  package var addresses = AddressRule.any
  /// Called for each interim answer (1xx but 100) with its fields, on a thread of the transport, before the reply; it
  /// must not block.
  package var onInterim: (@Sendable (InterimReply) -> Void)?
  /// Receives the body of the answer; nil keeps it in memory.
  package var sink: (any BodySink)?
  /// The sink takes the body of the answer without its content codings. Applied by the code that adds the sink.
  package var removesCodings = false

  package init(
    method: HTTPRequest.Method, url: String, fields: HTTPFields = [:], body: RequestBody = .none,
    limits: RequestLimits = .control, credentialLabel: String = ""
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.limits = limits
    self.credentialLabel = credentialLabel
  }
}

extension TransferRequest {
  /// Sends the body without `Expect: 100-continue`.
  package mutating func omitExpect() { fields[.expect] = nil }
}

/// The addresses to which a connection may be made.
package enum AddressRule: Sendable, Hashable {
  case any
  /// For a URL sent by a server: addresses of this machine and of private networks are allowed only if the given origin
  /// (`https://host:port`) has such an address itself.
  case `public`(unlessOf: String)
}

/// Bytes around the source of a body.
package struct BodyEnvelope: Sendable, Hashable {
  package var prefix: [UInt8]
  package var suffix: [UInt8]

  package init(prefix: [UInt8], suffix: [UInt8]) {
    self.prefix = prefix
    self.suffix = suffix
  }
}

/// A 1xx answer while its request is still running (RFC 9110 section 15.2).
package struct InterimReply: Sendable, Hashable {
  package var status: Int
  package var fields: HTTPFields

  package init(status: Int, fields: HTTPFields) {
    self.status = status
    self.fields = fields
  }
}

package enum RequestBody: Sendable {
  /// No body and no `Content-Length`.
  case none
  /// A small body from memory; an empty one sends `Content-Length: 0`.
  case bytes([UInt8])
  /// A body that is read while it is sent. `Content-Length` is its `length`.
  case source(any BodySource)
}

/// A request body of known length. Called from the transport's thread only, one call at a time.
package protocol BodySource: AnyObject, Sendable {
  /// In bytes.
  var length: Int64 { get }
  /// Fills the start of `buffer` (libcurl's own) with bytes from `offset`, counted from the start of this body.
  /// Returns how many, at least 1 while `offset < length`. Offsets come in order except after a rewind.
  /// A failure ends the request with ``TransferReply/bodyFailure``.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure>
}

/// Time limits of one request. Zero means no limit.
package struct RequestLimits: Sendable, Hashable {
  package var connectMs: Int64
  /// Fails with ``ErrorCode/netStalled`` when fewer than 1,024 bytes a second moved for this long; also while waiting
  /// for the answer.
  package var stallMs: Int64
  package var totalMs: Int64
  /// Replaces ``stallMs`` while waiting for the header of the answer to a completely sent body; nil keeps ``stallMs``.
  package var answerMs: Int64?
  /// How long the rest of an answer may pause after its header, if ``stallMs`` is 0.
  package var pauseMs: Int64 = 60_000
  /// How much of the answer's body is kept, in bytes, unless there is a sink; 1 MiB more is read and discarded. Of an
  /// error answer at most 64 KiB are read.
  package var maxReplyBytes: Int

  package init(connectMs: Int64, stallMs: Int64, totalMs: Int64, maxReplyBytes: Int) {
    self.connectMs = connectMs
    self.stallMs = stallMs
    self.totalMs = totalMs
    self.maxReplyBytes = maxReplyBytes
  }

  /// Small requests: one minute in all.
  package static let control = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 60_000, maxReplyBytes: 4 << 20)
  /// Bodies: no total limit, 60 s without progress.
  package static let body = RequestLimits(connectMs: 15_000, stallMs: 60_000, totalMs: 0, maxReplyBytes: 64 << 10)
  /// The same for bodies that must not be sent twice and whose result cannot be queried: waiting is better than ending
  /// such a request.
  package static let bodyOnce: RequestLimits = {
    var limits = body
    // Longer than any gateway waits.
    limits.answerMs = 600_000
    return limits
  }()
  /// Small requests that make a server assemble a file, and whose results are queried if the answer is overdue.
  package static let conclusion = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 300_000, maxReplyBytes: 4 << 20)
  /// Merge calls that a server may take minutes for.
  package static let finish = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 1_800_000, maxReplyBytes: 4 << 20)
}

/// The result of a request. A reply is always delivered, exactly once.
package struct TransferReply: Sendable {
  /// The final status; 0 unless a complete header block of a final answer arrived (a truncated one may lack important
  /// fields). May be set although `curlCode` is an error: check it first.
  package var status: Int = 0
  package var fields: HTTPFields = [:]
  package var body: [UInt8] = []
  /// The body is longer than `RequestLimits.maxReplyBytes`, or the transfer ended with an error before its end.
  package var isBodyTruncated = false
  /// CURLcode; 0 is success of the transport, independent of the status.
  package var curlCode: Int32 = 0
  /// libcurl's text for the failure, without secrets; empty on success.
  package var curlMessage = ""
  package var systemError: Int32 = 0
  /// True when at least one byte of the request may have reached the server: its effect is then uncertain without an
  /// answer.
  package var requestMayHaveArrived = false
  /// The final status arrived before the whole body was sent, or the body was never sent completely.
  package var isBodyIncomplete = false
  /// The proxy's answer to CONNECT if it made no tunnel: nothing of the request was sent then. 0 otherwise.
  package var proxyStatus = 0
  /// Ended by us because too few bytes moved for `RequestLimits.stallMs`; `curlCode` is 28 then.
  package var isStalled = false
  /// The longest time with fewer than 1,024 bytes per second, sampled at intervals.
  package var longestPauseMs: Int64 = 0
  /// The address is one that ``AddressRule`` forbids.
  package var isAddressRefused = false
  /// This machine had no thread, descriptor or memory for the request: nothing was sent, and nothing is wrong with the
  /// server. `curlMessage` says what to do.
  package var isLocalShortage = false
  /// We stopped it; nothing is wrong with the server.
  package var isCancelled = false
  /// Set if reading the request body failed, or the sink of the answer's body; the request was then ended by us.
  package var bodyFailure: Failure?
  /// Body bytes passed to the kernel. For display; never an acknowledgement.
  package var bytesSent: Int64 = 0
  /// Bytes of the body accepted by ``TransferRequest/sink``; 0 without one.
  package var bytesReceived: Int64 = 0
  package var timing = Timing()
  /// Numeric address of the server; empty when there was no connection.
  package var remoteIP = ""
  /// `1.1`, `2`, …; empty when there was no answer.
  package var httpVersion = ""
  package var isReusedConnection = false

  package init() {}

  /// The server answered with success before it had the whole body, so its claim is unfounded. This happens with a
  /// fixed answer of a gateway, a login page or a handler that ignores the body.
  package var isEarlySuccess: Bool { isBodyIncomplete && (200..<300).contains(status) }

  /// Body bytes that moved, in either direction.
  package var bytesMoved: Int64 { bytesSent + bytesReceived }

  /// True if there is an answer to interpret. Without one, the effect of a request that may have arrived is uncertain.
  package var isAnswered: Bool { status != 0 && !isEarlySuccess && overlongField == nil }

  /// Milliseconds from the start of the request; -1 when it did not get there.
  package struct Timing: Sendable, Hashable {
    package var dnsMs: Int64 = -1
    package var connectMs: Int64 = -1
    package var tlsMs: Int64 = -1
    /// To the last body byte that was passed to the network.
    package var sentMs: Int64 = -1
    package var firstByteMs: Int64 = -1
    package var totalMs: Int64 = -1
    /// How long its bodies were delayed by the rates of ``Transport/setRate(bytesPerSecond:of:)``.
    package var heldMs: Int64 = 0
    package init() {}
  }
}

/// Identifies a running request; chosen by the caller and unique among running ones.
package struct ExchangeID: Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Requests that may share a rate limit of their own; a number chosen by the caller.
package struct RateGroup: Hashable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// Performs single requests. It makes no decisions: no retry, no redirect, no pacing except the rates. A request is
/// sent over the network at most once.
package protocol Transport: Sendable {
  /// Starts a request and returns at once. `onReply` is called exactly once, from a thread of the transport; it must
  /// not block.
  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void)
  /// Ends a request within 100 ms; its reply comes with `isCancelled`. Unknown ids are ignored.
  func cancel(_ id: ExchangeID)
  /// Requests that are started from now on use new connections; running ones keep theirs. For connections that are
  /// probably dead, although nothing has reported it: the machine slept.
  func dropConnections()
  /// Limits the bodies of a group, or with nil all of them together, in bytes per second; nil for no limit. Both limits
  /// apply; sent bytes and those received by sinks count together. Takes effect at once.
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?)
  /// Body bytes that each running request has sent, or its sink has received, so far. For display.
  func bytesInFlight() -> [ExchangeID: Int64]
  /// Cancels running requests, delivers their replies, ends the threads. Blocks until then; call it from a plain
  /// thread.
  func stop()
}

extension Transport {
  package func dropConnections() {}

  /// The limit for all bodies together.
  package func setRate(bytesPerSecond: Int64?) { setRate(bytesPerSecond: bytesPerSecond, of: nil) }
}
