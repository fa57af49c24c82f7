import TransferModel

/// A Content-Range field of a request: the range of bytes in the body, and the total size. In the protocols that use it
/// here, `bytes */N` is a query.
/// Source: RFC 9110 section 14.4.
struct ContentRange: Equatable {
  /// nil for `*`.
  var range: ByteRange?
  /// nil for `*`.
  var total: Int64?

  init?(_ field: String) {
    guard field.hasPrefix("bytes ") else { return nil }
    let parts = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[1] != "*" {
      guard let total = wholeNumber(parts[1]) else { return nil }
      self.total = total
    }
    if parts[0] == "*" { return }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { wholeNumber($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], last >= first, last < total ?? .max else {
      return nil
    }
    range = ByteRange(offset: first, length: last - first + 1)
  }
}
