import HTTPTypes

extension HTTPFields {
  /// Whether the body says itself where it ends: the last transfer coding is `chunked`. After any other one, also
  /// `identity`, the body ends with the connection (RFC 9112 section 6.3).
  package var isChunked: Bool {
    let codings = self[values: .transferEncoding].flatMap { $0.split(separator: ",", omittingEmptySubsequences: true) }
    let last = codings.last { $0.contains { $0 != " " && $0 != "\t" } }
    return last?.filter { $0 != " " && $0 != "\t" }.lowercased() == "chunked"
  }
}
