import TransferModel

/// What may be wrong with the URL of an object that its bucket does not have.
enum SourceHint {
  /// - Parameter problems: the causes of failed files.
  /// - Returns: nil if the URLs say nothing about them.
  static func of(_ sources: [NameBytes], _ problems: [FailureRow]) -> String? {
    guard problems.contains(where: { $0.code == ErrorCode.http404.rawValue && $0.files > 0 }) else { return nil }
    let urls = sources.compactMap(\.utf8).filter { $0.hasPrefix("s3://") && !$0.hasSuffix("/") }
    if let url = urls.first(where: { $0.contains("*") || $0.contains("?") }) {
      let folder = url.prefix { $0 != "*" && $0 != "?" }
      let end = folder.lastIndex(of: "/").map { folder[...$0] } ?? folder
      return "patterns in URLs are not expanded: \"\(printable(String(end)))\" is everything below this prefix, "
        + "and --files-from takes a list of objects"
    }
    guard let url = urls.first else { return nil }
    return "\"\(printable(url))\" is the name of one object; a prefix ends with a slash, \"\(printable(url))/\""
  }
}
