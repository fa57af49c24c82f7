internal import HTTPTypes
internal import TransferModel

/// Why a request is not passed to libcurl at all. Its text contains no part of the request except names.
struct RequestRefusal: Error, Sendable, Hashable {
  /// The CURLcode that libcurl uses for this kind of error.
  let code: Int32
  let message: String

  static func unsupportedScheme(_ scheme: String) -> Self {
    Self(code: 1, message: "the scheme \"\(printable(String(scheme.prefix(20))))\" is not supported")
  }
  static func malformedURL(_ message: String) -> Self { Self(code: 3, message: message) }
  static func badArgument(_ message: String) -> Self { Self(code: 43, message: message) }

  /// Refuses requests that could be split into two, or that would send something other than requested.
  static func check(_ request: TransferRequest) throws(RequestRefusal) {
    for field in request.fields {
      guard field.withUnsafeBytesOfValue({ isSafe($0) }) else {
        throw .badArgument("the value of the field \"\(field.name.rawName)\" has a control character")
      }
    }
    if request.fields.contains(.transferEncoding) {
      throw .badArgument("the field \"Transfer-Encoding\" must not be set by the caller")
    }
    let lengths = request.fields[values: .contentLength]
    guard lengths.allSatisfy({ Int64($0) == request.body.length }) else {
      throw .badArgument("the field \"Content-Length\" contradicts the body")
    }
    if request.method == .head, request.body.length != nil {
      throw .badArgument("a HEAD request has no body")
    }
  }

  /// CR and LF end a field line, and NUL ends the text for libcurl; no other control character except TAB belongs in a
  /// value.
  static func isSafe(_ value: some Sequence<UInt8>) -> Bool {
    value.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
  }
}

extension RequestBody {
  /// In bytes; nil when there is no body.
  var length: Int64? {
    switch self {
    case .none: nil
    case .bytes(let bytes): Int64(bytes.count)
    case .source(let source): source.length
    }
  }
}
