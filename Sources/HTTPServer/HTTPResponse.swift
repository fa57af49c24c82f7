#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The response to one request.
public struct HTTPResponse: Sendable, Hashable {
  public var status: Int
  public var fields: [HTTPRequest.Field]
  public var body: [UInt8]
  /// Whether the connection ends after this response.
  package var closes = false
  /// Whether the client proved that it may be here: from now on its connection is not closed for that of another one.
  package var trusts = false

  public init(_ status: Int, fields: [HTTPRequest.Field] = [], body: [UInt8] = []) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }

  /// One line of text.
  public init(_ status: Int, text: String) {
    self.init(status, fields: [.init("Content-Type", "text/plain; charset=utf-8")], body: Array("\(text)\n".utf8))
  }

  /// The status line, the fields and the empty line. Control characters are removed from values, so that a value cannot
  /// end its line.
  func head(nowSeconds: Int, closing: Bool) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(Self.reason(status))\r\nDate: \(Self.date(nowSeconds))\r\n"
    for field in fields {
      text +=
        "\(field.name): \(String(decoding: field.value.utf8.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self))\r\n"
    }
    // Source: RFC 9110 section 8.6.
    if status != 304, status != 204 { text += "Content-Length: \(body.count)\r\n" }
    if closing { text += "Connection: close\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 303: "See Other"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: "Status \(status)"
    }
  }

  /// An IMF-fixdate. Source: RFC 9110 section 5.6.7.
  private static func date(_ seconds: Int) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
    let day = "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
    return "\(day) \(Int(parts.tm_year) + 1900) \(clock) GMT"
  }

  private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
