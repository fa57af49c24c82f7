/// A request line and its fields, checked as far as framing and safety require.
struct RequestHead {
  enum Framing: Equatable {
    case none
    case length(Int64)
    case chunked
  }

  var method: String
  /// The path as it was sent, without query.
  var path: ArraySlice<UInt8>
  /// The text after `?`; empty when there is none.
  var query: ArraySlice<UInt8>
  var isHTTP10: Bool
  /// Names in lower case, in the order of arrival.
  var fields: [(name: String, value: String)]
  var framing = Framing.none

  /// Refuses with 400, 501 or 505 a head that is not HTTP/1.1 or leaves the length of the body in doubt.
  /// Source: RFC 9112 sections 3, 5 and 6.
  init(_ bytes: [UInt8]) throws(ExchangeEnd) {
    var lines = bytes.dropLast(4).split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    guard let first = lines.popFirst() else { throw .refuse(400, "the request line is empty") }
    let words = Self.withoutReturn(first).split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(isTokenByte) else {
      throw .refuse(400, "the request line is malformed")
    }
    method = String(decoding: words[0], as: UTF8.self)
    isHTTP10 = try Self.isHTTP10(words[2])
    (path, query) = try Self.target(words[1])
    fields = try Self.fields(lines)
    framing = try framingOfFields()
    if !isHTTP10, self["host"] == nil { throw .refuse(400, "the Host field is missing") }
  }

  /// The value of a field; several are joined by commas; nil when it is absent.
  subscript(name: String) -> String? {
    var found: String?
    for field in fields where field.name == name { found = found.map { "\($0), \(field.value)" } ?? field.value }
    return found
  }

  var wantsClose: Bool {
    let options = (self["connection"] ?? "").lowercased()
    return isHTTP10 ? !options.contains("keep-alive") : options.contains("close")
  }

  private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == 0x0D ? line.dropLast() : line
  }

  private static func isHTTP10(_ version: ArraySlice<UInt8>) throws(ExchangeEnd) -> Bool {
    if version.elementsEqual("HTTP/1.1".utf8) { return false }
    if version.elementsEqual("HTTP/1.0".utf8) { return true }
    throw .refuse(505, "only HTTP/1.1 and HTTP/1.0 are supported")
  }

  private static func target(
    _ word: ArraySlice<UInt8>
  ) throws(ExchangeEnd) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>) {
    var target = word
    if target.starts(with: "http://".utf8) {
      let authority = target.dropFirst(7)
      target = authority[(authority.firstIndex(of: 0x2F) ?? authority.endIndex)...]
    }
    if target.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { throw .refuse(400, "the path holds a control character") }
    guard let mark = target.firstIndex(of: 0x3F) else { return (target, target[target.endIndex...]) }
    return (target[..<mark], target[(mark + 1)...])
  }

  static func fields(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(ExchangeEnd) -> [(name: String, value: String)] {
    var out: [(name: String, value: String)] = []
    out.reserveCapacity(lines.count)
    for line in lines { out.append(try field(withoutReturn(line))) }
    return out
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(ExchangeEnd) -> (name: String, value: String) {
    guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex, line[..<colon].allSatisfy(isTokenByte),
      !line.contains(where: { $0 == 0 || $0 == 0x0D })
    else { throw .refuse(400, "a header field is malformed") }
    var value = line[(colon + 1)...]
    while let byte = value.first, byte == 0x20 || byte == 0x09 { value = value.dropFirst() }
    while let byte = value.last, byte == 0x20 || byte == 0x09 { value = value.dropLast() }
    let name = line[..<colon].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
  }

  private func framingOfFields() throws(ExchangeEnd) -> Framing {
    let lengths = Set(fields.filter { $0.name == "content-length" }.map(\.value))
    let coding = self["transfer-encoding"]?.lowercased()
    if coding != nil && !lengths.isEmpty {
      throw .refuse(400, "Content-Length and Transfer-Encoding contradict each other")
    }
    if let coding {
      guard coding == "chunked" else { throw .refuse(501, "only the chunked transfer coding is supported") }
      return .chunked
    }
    guard let text = lengths.first else { return .none }
    guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(text) else {
      throw .refuse(400, "Content-Length is not a number")
    }
    return .length(length)
  }
}

/// Source: RFC 9110 section 5.6.2.
private func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
  case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
  default: false
  }
}
