import HTTPTypes
import TransferModel

extension ErrorCode {
  /// The error code of a status that is not a success.
  init(httpStatus status: Int) {
    switch status {
    case 300..<400: self = .httpRedirect
    case 400: self = .http400
    case 401: self = .authRefused
    case 403: self = .http403
    case 404: self = .http404
    case 409: self = .http409
    case 410: self = .http410
    case 412: self = .http412
    case 413: self = .http413
    case 423: self = .http423
    case 429: self = .http429
    case 402..<500: self = .http4xx
    case 500: self = .http500
    case 502: self = .http502
    case 503: self = .http503
    case 504: self = .http504
    case 507: self = .http507
    case 501..<600: self = .http5xx
    default: self = .protoBadReply
    }
  }
}

/// The meaning of a status for a request that may be repeated.
/// Sources: RFC 9110 section 15, RFC 6585, RFC 8470 (425), RFC 4918 (423).
public enum StatusClass: Sendable, Hashable {
  case success, redirect, retry, throttled, permanent

  public init(_ status: Int) {
    switch status {
    case 200..<300: self = .success
    case 300..<400: self = .redirect
    case 429, 503, 509, 529: self = .throttled
    case 408, 421, 423, 425: self = .retry
    case 501, 505, 511: self = .permanent
    case 500..<600: self = .retry
    default: self = .permanent
    }
  }
}

extension Failure {
  /// A failure with text from an answer. `detail` comes from the server: it is truncated, and reduced to one line. Like
  /// all text it is escaped when it is displayed.
  init(answer reply: TransferReply, code: ErrorCode? = nil, detail: String = "", wallMs: Int64) {
    let shown = Self.line(of: detail)
    let text = "the server answered \(reply.status)" + (shown.isEmpty ? "" : " (\(shown))")
    self.init(
      code ?? ErrorCode(httpStatus: reply.status), text,
      retryAfterMs: RetryAfter.milliseconds(reply.fields, wallMs: wallMs))
  }

  /// At most 300 characters; runs of white space, control characters and invisible characters become one space.
  private static func line(of detail: String) -> String {
    let words = detail.unicodeScalars.prefix(4_096).split { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
      default: false
      }
    }
    return String(words.map(String.init).joined(separator: " ").prefix(300))
  }
}

extension FailureAction {
  /// The action after a missing answer to a repeatable request.
  init(transport failure: Failure) {
    switch failure.code {
    case .netCert, .protoUnsupported, .engineBug, .authRefused, .http403, .httpRedirect: self = .permanent
    case .localFDLimit: self = .retry(isThrottled: true)
    default: self = failure.code.category == .source ? .permanent : .retry(isThrottled: false)
    }
  }
}

extension TransferReply {
  /// The server performed the request, or (202) may perform it later. Unregistered 2xx statuses mean the same as 200
  /// (RFC 9110 section 15).
  var isSuccess: Bool { (200..<300).contains(status) && !answersAnother }

  /// A 2xx status that answers another kind of request, and does not report the outcome of this one: a range of a `GET`
  /// (206, RFC 9110 section 15.3.7), one status for each of several resources, some of which may be failures (207 and
  /// 208, RFC 4918 section 11.1 and RFC 5842 section 7.1), or differences of a `GET` (226, RFC 3229 section 10.4.1).
  var answersAnother: Bool { [206, 207, 208, 226].contains(status) }

  /// A field by its lower-case name.
  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

  /// The server's ID of this request, for its operator: empty if there is none, or if it has more than 128 bytes.
  package var serverRequestID: String {
    for name in Self.requestIDNames {
      if let value = field(name), (1...128).contains(value.utf8.count) { return value }
    }
    return ""
  }

  /// Header fields in which servers send request IDs.
  private static let requestIDNames = [
    "x-amz-request-id", "x-amzn-requestid", "x-openstack-request-id", "x-trans-id", "x-request-id",
  ]

  /// Replaces the request IDs in the header.
  package mutating func changeRequestIDs(_ change: (String) -> String) {
    for name in Self.requestIDNames {
      if let value = field(name), let name = HTTPField.Name(name) { fields[name] = change(value) }
    }
  }

  /// The origin of a redirect's target; empty if it stays on the same server or is unreadable.
  var redirectOrigin: String {
    guard let location = field("location"), let colon = location.utf8.firstIndex(of: 0x3A) else { return "" }
    let isTLS = location[..<colon].lowercased() == "https"
    guard isTLS || location[..<colon].lowercased() == "http", location[colon...].hasPrefix("://") else { return "" }
    let authority = location[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return (try? WebOrigin(isTLS: isTLS, authority: authority))?.description ?? ""
  }
}
