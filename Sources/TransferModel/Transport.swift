public import HTTPTypes

/// One HTTP request, complete: nothing is added to it on the way but `Host`, `Content-Length` and `User-Agent`.
public struct TransferRequest: Sendable {
  public var method: HTTPRequest.Method
  /// Absolute `http` or `https` URL, already percent-encoded; sent as it stands (dot segments stay).
  public var url: String
  /// The transport refuses values with CR, LF or NUL.
  public var fields: HTTPFields
  public var body: RequestBody
  public var limits: RequestLimits
  /// Requests with different labels never share a connection. A label for people, never a secret:
  /// `aws:profile/default`.
  public var credentialLabel: String
  /// The group whose rate limits this body, besides the limit for all.
  public var rateGroup: RateGroup?
  /// What stands before and after the source in the body: the frame of a form. Put around it by whoever adds the
  /// source.
  public var envelope: BodyEnvelope?
  /// Which addresses the connection may lead to.
  public var addresses = AddressRule.any
  /// Called for each interim answer (1xx but 100) with its fields, on a thread of the transport, before the reply; it
  /// must not block.
  public var onInterim: (@Sendable (InterimReply) -> Void)?
  /// Takes the body of the answer; nil keeps it in memory.
  public var sink: (any BodySink)?

  public init(
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
  /// Sends the body without asking for it first.
  public mutating func omitExpect() { fields[.expect] = nil }
}

/// Which addresses a connection may lead to.
public enum AddressRule: Sendable, Hashable {
  case any
  /// A server named the URL: addresses of this machine and of private networks only where the origin that is named here
  /// (`https://host:port`) has such an address itself.
  case `public`(unlessOf: String)
}

/// Bytes around the source of a body.
public struct BodyEnvelope: Sendable, Hashable {
  public var prefix: [UInt8]
  public var suffix: [UInt8]

  public init(prefix: [UInt8], suffix: [UInt8]) {
    self.prefix = prefix
    self.suffix = suffix
  }
}

/// A 1xx answer while its request goes on (RFC 9110 section 15.2).
public struct InterimReply: Sendable, Hashable {
  public var status: Int
  public var fields: HTTPFields

  public init(status: Int, fields: HTTPFields) {
    self.status = status
    self.fields = fields
  }
}

public enum RequestBody: Sendable {
  /// No body and no `Content-Length`.
  case none
  /// A small body from memory; an empty one sends `Content-Length: 0`.
  case bytes([UInt8])
  /// A body that is read while it is sent. `Content-Length` is its `length`.
  case source(any BodySource)
}

/// A request body of known length. Called from the transport's thread only, one call at a time.
public protocol BodySource: AnyObject, Sendable {
  /// In bytes.
  var length: Int64 { get }
  /// Fills the start of `buffer` (libcurl's own) with bytes from `offset`, counted from the start of this body.
  /// Returns how many, at least 1 while `offset < length`. Offsets come in order except after a rewind.
  /// A failure ends the request with ``TransferReply/bodyFailure``.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure>
}

/// Time limits of one request. Zero means no limit.
public struct RequestLimits: Sendable, Hashable {
  public var connectMs: Int64
  /// Fails with ``ErrorCode/netStalled`` when fewer than 1,024 bytes a second moved for so long; also while waiting for
  /// the answer.
  public var stallMs: Int64
  public var totalMs: Int64
  /// Replaces ``stallMs`` while the answer to a body that has been sent completely is awaited; nil keeps ``stallMs``.
  public var answerMs: Int64?
  /// How much of the answer's body is kept, in bytes, unless a sink takes it; the rest is read and dropped.
  public var maxReplyBytes: Int

  public init(connectMs: Int64, stallMs: Int64, totalMs: Int64, maxReplyBytes: Int) {
    self.connectMs = connectMs
    self.stallMs = stallMs
    self.totalMs = totalMs
    self.maxReplyBytes = maxReplyBytes
  }

  /// Small requests: one minute in all.
  public static let control = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 60_000, maxReplyBytes: 4 << 20)
  /// Bodies: no total limit, 60 s without progress.
  public static let body = RequestLimits(connectMs: 15_000, stallMs: 60_000, totalMs: 0, maxReplyBytes: 64 << 10)
  /// The same for bodies that must not be sent twice and that nobody can be asked about: whoever ends such a request
  /// knows less than who waits.
  public static let bodyOnce: RequestLimits = {
    var limits = body
    // Longer than any gateway waits.
    limits.answerMs = 600_000
    return limits
  }()
  /// Small requests that make a server put together what it has, and that are asked about when their answer does not
  /// come.
  public static let conclusion = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 300_000, maxReplyBytes: 4 << 20)
  /// Merge calls that a server may take minutes for.
  public static let finish = RequestLimits(connectMs: 15_000, stallMs: 0, totalMs: 1_800_000, maxReplyBytes: 4 << 20)
}

/// Everything that is known about how a request went. A reply always comes, exactly once.
public struct TransferReply: Sendable {
  /// The final status; 0 unless a complete header block of a final answer arrived (a cut one may lack what matters).
  /// May be set although `curlCode` is an error: look at it first.
  public var status: Int = 0
  public var fields: HTTPFields = [:]
  public var body: [UInt8] = []
  /// Longer than `RequestLimits.maxReplyBytes`, or the transfer ended with an error before the end was seen.
  public var isBodyTruncated = false
  /// CURLcode; 0 is success of the transport, whatever the status.
  public var curlCode: Int32 = 0
  /// libcurl's text for the failure, without secrets; empty on success.
  public var curlMessage = ""
  public var systemError: Int32 = 0
  /// True when at least one byte of the request may have reached the server: its effect is then uncertain without an
  /// answer.
  public var requestMayHaveArrived = false
  /// The final status came before the whole body had gone out, or the body never went out whole.
  public var isBodyIncomplete = false
  /// What a proxy answered to CONNECT, when it made no tunnel: nothing of the request was sent then. 0 for anything
  /// else.
  public var proxyStatus = 0
  /// Ended by us because too few bytes moved for `RequestLimits.stallMs`; `curlCode` is 28 then.
  public var isStalled = false
  /// The longest time in which fewer than 1,024 bytes a second moved, looked at now and then.
  public var longestPauseMs: Int64 = 0
  /// The address that a server named is one that ``AddressRule`` forbids.
  public var isAddressRefused = false
  /// We stopped it; nothing is wrong with the server.
  public var isCancelled = false
  /// Set when reading the body of the request failed, or the sink of the answer's body; then the request was ended by
  /// us.
  public var bodyFailure: Failure?
  /// Body bytes handed to the system. For display; never an acknowledgement.
  public var bytesSent: Int64 = 0
  /// Bytes of the body that ``TransferRequest/sink`` took; 0 without one.
  public var bytesReceived: Int64 = 0
  public var timing = Timing()
  /// Numeric address of the server; empty when there was no connection.
  public var remoteIP = ""
  /// `1.1`, `2`, …; empty when there was no answer.
  public var httpVersion = ""
  public var isReusedConnection = false

  public init() {}

  /// The server answered with success before it had the whole body: it cannot know what it claims. A fixed answer of a
  /// gateway, a login page or a handler that ignores the body looks like this.
  public var isEarlySuccess: Bool { isBodyIncomplete && (200..<300).contains(status) }

  /// Body bytes that moved, whichever way.
  public var bytesMoved: Int64 { bytesSent + bytesReceived }

  /// There is an answer to judge. Without one the effect of a request that may have arrived is in doubt.
  public var isAnswered: Bool { status != 0 && !isEarlySuccess && overlongField == nil }

  /// Milliseconds from the start of the request; -1 when it did not get there.
  public struct Timing: Sendable, Hashable {
    public var dnsMs: Int64 = -1
    public var connectMs: Int64 = -1
    public var tlsMs: Int64 = -1
    /// To the last byte of the body that was handed to the network.
    public var sentMs: Int64 = -1
    public var firstByteMs: Int64 = -1
    public var totalMs: Int64 = -1
    /// How long its bodies waited for the rates of ``Transport/setRate(bytesPerSecond:of:)``.
    public var heldMs: Int64 = 0
    public init() {}
  }
}

/// A number that names a running request; chosen by the caller and unique among those that run.
public struct ExchangeID: Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Requests that may share a rate limit of their own; a number chosen by the caller.
public struct RateGroup: Hashable, Sendable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// Performs single requests. It decides nothing: no retry, no redirect, no pacing but the rates. A request goes over
/// the wire at most once.
public protocol Transport: Sendable {
  /// Starts a request and returns at once. `onReply` is called exactly once, from a thread of the transport; it must
  /// not block.
  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void)
  /// Ends a request within 100 ms; its reply comes with `isCancelled`. Unknown ids are ignored.
  func cancel(_ id: ExchangeID)
  /// Limits the bodies of a group, or with nil all of them together, in bytes a second; nil for no limit. Both hold;
  /// what is sent and what sinks take count together. Takes effect at once.
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?)
  /// Body bytes that each running request has sent or its sink has taken so far. For display.
  func bytesInFlight() -> [ExchangeID: Int64]
  /// Cancels what runs, delivers the replies, ends the threads. Blocks until then; call it from a plain thread.
  func stop()
}

extension Transport {
  /// The limit for all bodies together.
  public func setRate(bytesPerSecond: Int64?) { setRate(bytesPerSecond: bytesPerSecond, of: nil) }
}
