import Glibc
import TransferModel

/// What is sent back for one request.
struct Answer {
  struct Field: Sendable, Equatable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A part of a stored object that is sent as the body.
  struct FileBody {
    var descriptor: Descriptor
    var range: ByteRange
    /// Every byte is XORed with this one.
    var mask: UInt8 = 0
    /// The byte at this offset of the object is altered; nil for none.
    var wrongByte: Int64?
  }

  /// How the client knows where the body ends.
  enum Framing: String, Sendable {
    case length
    case chunked
    /// The connection is closed after the body.
    case close = "no-length"
  }

  var status: Int
  var fields: [Field]
  /// Used when there is no `file`.
  var body: [UInt8] = []
  var file: FileBody?
  var framing = Framing.length
  /// The length that HEAD announces when the body is not available; nil for the length of the body.
  var announcedLength: Int64?

  init(_ status: Int, fields: [Field] = []) {
    self.status = status
    self.fields = fields
  }

  /// An answer whose body is one line of text.
  init(_ status: Int, text: String, fields: [Field] = []) {
    self.status = status
    self.fields = [Field("Content-Type", "text/plain; charset=utf-8")] + fields
    body = Array("\(printable(text))\n".utf8)
  }

  /// Whether the answer may have a body, even an empty one or one omitted because of HEAD. Source: RFC 9110 section
  /// 6.4.1.
  var mayHaveBody: Bool { status != 204 && status != 304 && status >= 200 }

  var contentLength: Int64 { announcedLength ?? file?.range.length ?? Int64(body.count) }

  /// The status line and the fields up to and including the empty line.
  func head(closing: Bool, nowSeconds: Int) -> [UInt8] {
    var text = ""
    text.reserveCapacity(256)
    text += "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
    if !fields.contains(where: { $0.name.lowercased() == "date" }) { text += "Date: \(httpDate(nowSeconds))\r\n" }
    text += "Server: transfers-receiver\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    if mayHaveBody {
      switch framing {
      case .length: text += "Content-Length: \(contentLength)\r\n"
      case .chunked: text += "Transfer-Encoding: chunked\r\n"
      case .close: break
      }
    }
    if closing { text += "Connection: close\r\n" }
    text += "\r\n"
    return Array(text.utf8)
  }

  static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 104: "Upload Resumption Supported"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 207: "Multi-Status"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 423: "Locked"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 460: "Checksum Mismatch"
    case 499: "Client Closed Request"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: "Status \(status)"
    }
  }
}

/// A time in seconds since 1970 UTC as an IMF-fixdate. Source: RFC 9110 section 5.6.7.
func httpDate(_ seconds: Int) -> String {
  var time = time_t(seconds)
  var parts = tm()
  gmtime_r(&time, &parts)
  let day = dayNames[Int(parts.tm_wday)]
  let date = "\(twoDigits(parts.tm_mday)) \(monthNames[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1900)"
  return "\(day), \(date) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec)) GMT"
}

private let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
private let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

private func twoDigits(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
