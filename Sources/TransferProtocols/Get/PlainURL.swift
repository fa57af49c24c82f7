import TransferModel

/// The URL under which a plain GET serves a file that is named as a destination of an upload, or as in other tools.
enum PlainURL {
  /// Public objects, and private ones with a token (`--auth bearer=…`). Source: "Request endpoints", Cloud Storage.
  private static let googleStorage = "https://storage.googleapis.com"

  /// `gs://bucket/object` and `tus+http(s)://…` as `http(s)` URLs; others as they are.
  /// - Throws: `.usage`, with the URL to write instead, if only the user can know whether that is the file.
  static func of(_ text: String) throws(TransferError) -> String {
    let word = text.prefix { $0 != ":" }
    let (scheme, rest) = (word.lowercased(), text[word.endIndex...])
    guard rest.hasPrefix("://") else { return text }
    if scheme == "gs" { return try object(String(rest.dropFirst(3)), text) }
    guard let plus = scheme.firstIndex(of: "+"), AllProtocols.definition(scheme: scheme, .download) == nil,
      AllProtocols.definition(scheme: scheme, .upload) != nil
    else { return text }
    let plain = String(scheme[scheme.index(after: plus)...]) + rest
    // The URL of an upload is that of its file, too ("GET", tus protocol 1.0, section "Upload").
    if scheme.hasPrefix("tus+") { return plain }
    throw TransferError(
      .usage, "read URL", NameBytes(shown(text)), cause: "files are fetched by GET, and not in the way of uploads",
      remedy: "write \(shown(plain))")
  }

  /// Keys are literal, as for other buckets.
  private static func object(_ place: String, _ text: String) throws(TransferError) -> String {
    let slash = place.firstIndex(of: "/") ?? place.endIndex
    let (bucket, key) = (place[..<slash], place[slash...].dropFirst())
    let isName = bucket.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
    }
    guard !bucket.isEmpty, isName else {
      throw TransferError(
        .usage, "read URL", NameBytes(shown(text)), cause: "it has no valid bucket", remedy: "write gs://bucket/object")
    }
    guard !key.isEmpty, key.utf8.last != 0x2F else {
      throw TransferError(
        .usage, "read URL", NameBytes(shown(text)), cause: "it names a folder, and gs:// is for single objects",
        remedy: "write s3://\(bucket)/\(key) with --endpoint-url \(googleStorage) and the HMAC keys of the bucket")
    }
    return "\(googleStorage)/\(bucket)/\(PercentEncoding.path(Array(key.utf8)))"
  }

  /// The base of relative paths: also the whole of a bucket.
  static func base(_ text: String) throws(TransferError) -> String {
    guard text.lowercased().hasPrefix("gs://") else { return try of(text) }
    // A key below it is what a base needs.
    let folder = text.hasSuffix("/") ? text : text + "/"
    return String(try of(folder + "x").dropLast())
  }

  /// Without what may be a secret.
  private static func shown(_ text: String) -> String {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    guard let mark = path.firstRange(of: "://"), let at = path.lastIndex(of: "@") else { return String(path) }
    return "\(path[..<mark.upperBound])…\(path[at...])"
  }
}
