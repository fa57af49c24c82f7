/// The parsed head of a request. Ambiguous input is refused, so that differences between a proxy's parser and this one
/// cannot be used to smuggle a request.
struct RequestHead {
  var request: HTTPRequest
  let length: Int
  let isHTTP10: Bool

  /// Throws the answer to an invalid request. `bytes` end with the empty line.
  init(_ bytes: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPRefusal) {
    var lines = try Self.lines(bytes)[...]
    guard let first = lines.popFirst() else { throw HTTPRefusal(400, "the request line is empty") }
    let words = first.split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(Self.isToken) else {
      throw HTTPRefusal(400, "the request line is malformed")
    }
    isHTTP10 = try Self.isHTTP10(words[2])
    let (path, query) = try Self.target(words[1])
    var fields: [HTTPRequest.Field] = []
    for line in lines { fields.append(try Self.field(line)) }
    let hosts = fields.filter { $0.name == "host" }.count
    guard hosts <= 1, hosts == 1 || isHTTP10 else { throw HTTPRefusal(400, "there must be exactly one Host field") }
    length = try Self.length(fields, limits)
    request = HTTPRequest(
      method: String(decoding: words[0], as: UTF8.self), path: path, query: query, fields: fields)
  }

  var wantsClose: Bool {
    let options = request.fields.filter { $0.name == "connection" }.map { $0.value.lowercased() }
    return isHTTP10 || options.contains { $0.contains("close") }
  }

  var expectsContinue: Bool { request["expect"]?.lowercased() == "100-continue" }

  /// Lines must end with CRLF. Source: RFC 9112 section 2.2.
  private static func lines(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    for line in bytes.dropLast(4).split(separator: 0x0A, omittingEmptySubsequences: false) {
      let isLast = line.endIndex == bytes.endIndex - 4
      let text = isLast ? line : line.dropLast()
      guard isLast || line.last == 0x0D, !text.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw HTTPRefusal(400, "the head contains a control character")
      }
      lines.append(text)
    }
    return lines
  }

  private static func isHTTP10(_ version: ArraySlice<UInt8>) throws(HTTPRefusal) -> Bool {
    if version.elementsEqual("HTTP/1.1".utf8) { return false }
    if version.elementsEqual("HTTP/1.0".utf8) { return true }
    throw HTTPRefusal(505, "only HTTP/1.1 and HTTP/1.0 are supported")
  }

  /// Only the origin form is accepted. A segment that is `.` or `..`, or that contains a slash, a backslash or a
  /// control character, is refused.
  private static func target(
    _ word: ArraySlice<UInt8>
  ) throws(HTTPRefusal) -> (path: [String], query: [HTTPRequest.Term]) {
    guard word.first == 0x2F, !word.contains(0x23) else { throw HTTPRefusal(400, "the target is not a path") }
    let mark = word.firstIndex(of: 0x3F) ?? word.endIndex
    var path: [String] = []
    for segment in word[..<mark].split(separator: 0x2F, omittingEmptySubsequences: true) {
      guard let decoded = HTTPRequest.percentDecoded(segment, plusIsSpace: false),
        let text = String(validating: decoded, as: UTF8.self), text != ".", text != "..",
        !decoded.contains(where: { $0 < 0x20 || $0 == 0x2F || $0 == 0x5C || $0 == 0x7F })
      else { throw HTTPRefusal(400, "the path is malformed") }
      path.append(text)
    }
    guard let query = HTTPRequest.terms(word[mark...].dropFirst()) else {
      throw HTTPRefusal(400, "the query is malformed")
    }
    return (path, query)
  }

  /// A line that begins with a space would continue the previous one; such folding is obsolete (RFC 9112 section 5.2).
  private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequest.Field {
    guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex, line[..<colon].allSatisfy(isToken) else {
      throw HTTPRefusal(400, "a header field is malformed")
    }
    var value = line[(colon + 1)...]
    while let byte = value.first, byte == 0x20 || byte == 0x09 { value = value.dropFirst() }
    while let byte = value.last, byte == 0x20 || byte == 0x09 { value = value.dropLast() }
    return HTTPRequest.Field(
      String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
  }

  /// Bodies must have exactly one Content-Length. Source: RFC 9112 section 6.3.
  private static func length(_ fields: [HTTPRequest.Field], _ limits: HTTPLimits) throws(HTTPRefusal) -> Int {
    if fields.contains(where: { $0.name == "transfer-encoding" }) {
      throw HTTPRefusal(501, "a body requires Content-Length")
    }
    let lengths = fields.filter { $0.name == "content-length" }
    guard let text = lengths.first?.value else { return 0 }
    guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw HTTPRefusal(400, "Content-Length is not one number")
    }
    guard let length = Int(text), length <= limits.bodyBytes else {
      throw HTTPRefusal(413, "the body is longer than \(limits.bodyBytes) bytes")
    }
    return length
  }

  /// Source: RFC 9110 section 5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}

/// The answer to an invalid request; the connection is closed after it.
struct HTTPRefusal: Error, Hashable {
  let status: Int
  let text: String

  init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }

  var response: HTTPResponse { HTTPResponse(status, text: text) }
}
