/// The party responsible for a failure: the first question of an operator.
package enum ErrorCategory: String, Sendable, CaseIterable, Codable {
  case source, local, network, server, auth, policy, engine
}

/// The closed list of reasons why an attempt, a chunk or a file did not succeed. Raw values are stored in the ledger
/// and shown to people; they are never renamed. Never holds dynamic text.
public enum ErrorCode: String, Sendable, CaseIterable, Codable {
  case netDNS = "net.dns"
  case netRefused = "net.refused"
  case netUnreachable = "net.unreachable"
  case netConnectTimeout = "net.connect_timeout"
  case netTLS = "net.tls"
  case netCert = "net.cert"
  case netReset = "net.reset"
  case netStalled = "net.stalled"
  case netTimeout = "net.timeout"
  case netHTTP2 = "net.http2"

  case http400 = "http.400"
  case http401 = "http.401"
  case http403 = "http.403"
  case http404 = "http.404"
  case http409 = "http.409"
  case http410 = "http.410"
  case http412 = "http.412"
  case http413 = "http.413"
  case http423 = "http.423"
  case http429 = "http.429"
  case http4xx = "http.4xx"
  case http500 = "http.500"
  case http502 = "http.502"
  case http503 = "http.503"
  case http504 = "http.504"
  case http507 = "http.507"
  case http5xx = "http.5xx"
  case httpRedirect = "http.redirect"

  case protoOffset = "proto.offset"
  case protoSessionGone = "proto.session_gone"
  case protoBadReply = "proto.bad_reply"
  case protoUnsupported = "proto.unsupported"
  case protoLostAnswer = "proto.lost_answer"
  case protoNoDestination = "proto.no_destination"

  case integrityMismatch = "integrity.mismatch"

  case sourceMismatch = "source.mismatch"
  case sourceMissing = "source.missing"
  case sourceDenied = "source.denied"
  case sourceChanged = "source.changed"
  case sourceShortRead = "source.short_read"
  case sourceIO = "source.io"
  case sourceKind = "source.kind"
  case sourceName = "source.name"
  case sourceSettling = "source.settling"

  case localDiskFull = "local.disk_full"
  case localFDLimit = "local.fd_limit"
  case localIO = "local.io"

  case authMissing = "auth.missing"
  case authExpired = "auth.expired"
  case authRefused = "auth.refused"
  case authNeedsURL = "auth.needs_url"

  case policyExists = "policy.exists"
  case policyCancelled = "policy.cancelled"
  case policyResolved = "policy.resolved"
  case policyLimit = "policy.limit"
  case policyCircuit = "policy.circuit"
  case policyDeadline = "policy.deadline"
  case policyProof = "policy.proof"
  case policyDuplicate = "policy.duplicate"
  case policyDestination = "policy.destination"

  case engineCrashed = "engine.crashed"
  case engineCopied = "engine.copied"
  case engineInterrupted = "engine.interrupted"
  case engineSlept = "engine.slept"
  case engineBug = "engine.bug"

  package var category: ErrorCategory {
    switch rawValue.prefix(while: { $0 != "." }) {
    case "net": .network
    case "http", "proto", "integrity": self == .http401 || self == .http403 ? .auth : .server
    case "source": .source
    case "local": .local
    case "auth": .auth
    case "policy": .policy
    default: .engine
    }
  }
}

/// Why one attempt failed: the program uses the code, people the rest.
public struct Failure: Error, Sendable, Hashable {
  public var code: ErrorCode
  /// One line in lower case, without secrets; may hold text from a server, so escape it before printing.
  public var message: String
  /// The `errno` of the failed system call, if any.
  public var systemError: Int32?
  /// The wait requested by the server, in milliseconds; already clamped to 0 … 1 hour.
  public var retryAfterMs: Int64?
  /// A sync of a local file failed. The kernel reports a lost write once and then treats its pages as written
  /// (fsync(2)): no data written to the file can be trusted, whatever a later sync returns.
  public var isLostWrite = false

  package init(_ code: ErrorCode, _ message: String, systemError: Int32? = nil, retryAfterMs: Int64? = nil) {
    self.code = code
    self.message = message
    self.systemError = systemError
    self.retryAfterMs = retryAfterMs
  }
}
