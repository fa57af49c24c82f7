public import TransferModel

/// Where a batch goes, as typed: `s3://bucket/prefix/`, `http(s)://…` (PUT), `post+http(s)://…`, `dav+http(s)://…`,
/// `form+http(s)://…`, `tus+http(s)://…`, `resumable+http(s)://…`.
///
/// A trailing slash means "into"; without one the text names the object of a single file. Web destinations may hold
/// `{path}` (the encoded relative path) and `{name}` (its last component) instead. A destination never holds a secret:
/// user information and query parameters that are known to carry one are refused.
public struct Destination: Sendable, Hashable {
  public enum Place: Sendable, Hashable {
    case s3(bucket: String)
    case web(WebPlace)
    /// The server that a profile speaks to; what each file becomes there is the profile's affair.
    case endpoint(WebOrigin)
  }

  public let place: Place
  /// Everything below the bucket or the origin, decoded; empty for a template.
  public let prefix: NameBytes
  /// Files are put below ``prefix``, under their relative paths.
  public let isInto: Bool
  /// Files are told apart by their whole paths; else only by their names.
  private let usesPath: Bool

  /// Names of the schemes, for messages and help.
  public static let schemes = [
    "s3://", "http://", "https://", "post+http://", "post+https://", "dav+http://", "dav+https://", "form+http://",
    "form+https://", "tus+http://", "tus+https://", "resumable+http://", "resumable+https://",
  ]

  /// - Throws: `.usage`, with the remedy. No message quotes what may be a secret.
  public init(parsing text: String) throws(TransferError) {
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F }) else {
      throw Self.error(text, cause: "it holds a control character", "percent-encode it where it is meant")
    }
    guard let mark = text.range(of: "://") else {
      throw Self.error(text, cause: "it has no scheme", Self.schemesRemedy)
    }
    let rest = String(text[mark.upperBound...])
    switch text[..<mark.lowerBound].lowercased() {
    case "s3": try self.init(s3: rest, text)
    case "http": try self.init(web: rest, .put, isTLS: false, text)
    case "https": try self.init(web: rest, .put, isTLS: true, text)
    case "post+http": try self.init(web: rest, .post, isTLS: false, text)
    case "post+https": try self.init(web: rest, .post, isTLS: true, text)
    case "dav+http": try self.init(web: rest, .dav, isTLS: false, text)
    case "dav+https": try self.init(web: rest, .dav, isTLS: true, text)
    case "form+http": try self.init(web: rest, .form, isTLS: false, text)
    case "form+https": try self.init(web: rest, .form, isTLS: true, text)
    case "tus+http": try self.init(web: rest, .tus, isTLS: false, text)
    case "tus+https": try self.init(web: rest, .tus, isTLS: true, text)
    case "resumable+http": try self.init(web: rest, .resumable, isTLS: false, text)
    case "resumable+https": try self.init(web: rest, .resumable, isTLS: true, text)
    default: throw Self.error(text, cause: "its scheme is unknown", Self.schemesRemedy)
    }
  }

  /// The destination of a batch, by all of its settings.
  /// - Throws: `.usage`, with the remedy.
  public init(_ settings: BatchSettings) throws(TransferError) {
    let parsed = try Destination(parsing: settings.destination)
    guard settings.profile == nil else {
      self = try Destination(endpoint: parsed, settings.destination)
      return
    }
    let isTold = settings.web?.fields?.contains { $0.contains("{path}") } ?? false
    (place, prefix, isInto) = (parsed.place, parsed.prefix, parsed.isInto)
    usesPath = parsed.usesPath || isTold
  }

  /// The key of a file: where it is put below the bucket or origin. `path` is relative to the source that was named;
  /// `isSingleFile` says that this source was the file itself.
  public func key(forRelativePath path: NameBytes, isSingleFile: Bool) -> NameBytes {
    var key: [UInt8] = []
    path.bytes.withUnsafeBytes { appendKey(forRelativePath: $0, isSingleFile: isSingleFile, to: &key) }
    return NameBytes(key)
  }

  /// The same for bytes in place.
  public func appendKey(
    forRelativePath path: UnsafeRawBufferPointer, isSingleFile: Bool, to key: inout [UInt8]
  ) {
    if case .web(let web) = place, web.template != nil {
      let start = usesPath ? nil : path.lastIndex(of: 0x2F).map { $0 + 1 }
      return key.append(contentsOf: path[(start ?? 0)...])
    }
    key.append(contentsOf: prefix.bytes)
    if isInto { return key.append(contentsOf: path) }
    guard !isSingleFile else { return }
    key.append(0x2F)
    key.append(contentsOf: path)
  }

  /// Files of different paths can have the same key: only their names tell them apart there.
  public var mayJoinPaths: Bool {
    if case .web(let web) = place, web.template != nil { !usesPath } else { false }
  }

  /// What keeps files of different paths apart, where ``mayJoinPaths``; nil elsewhere.
  public var wayToTellPaths: String? {
    guard mayJoinPaths, case .web(let web) = place else { return nil }
    return web.method == .form
      ? "send their paths along: --field key={path}, with the name that the server expects"
      : "write {path} instead of {name} in the destination"
  }

  // MARK: - Parsing

  private init(s3 rest: String, _ text: String) throws(TransferError) {
    let slash = rest.firstIndex(of: "/")
    let bucket = String(slash.map { rest[..<$0] } ?? rest[...])
    guard Self.isBucket(bucket) else {
      throw Self.error(
        text, cause: "it names no bucket",
        "write s3://BUCKET/PREFIX/ with a bucket of 3 to 255 letters, digits, \"-\", \".\" and \"_\"")
    }
    place = .s3(bucket: bucket)
    usesPath = true
    prefix = NameBytes(slash.map { String(rest[rest.index(after: $0)...]) } ?? "")
    isInto = prefix.isEmpty || prefix.bytes.last == 0x2F
  }

  /// Checked as any web destination is, but its path is the server's: names of files are not put behind it.
  private init(endpoint web: Destination, _ text: String) throws(TransferError) {
    guard case .web(let place) = web.place, place.method == .put, place.template == nil else {
      throw Self.error(
        text, cause: "a profile (--via) needs an http or https URL without {path} or {name}",
        "write the URL of the server, http://… or https://…, or leave --via out")
    }
    self.place = .endpoint(place.origin)
    prefix = NameBytes("")
    isInto = true
    usesPath = true
  }

  private init(web rest: String, _ method: WebMethod, isTLS: Bool, _ text: String) throws(TransferError) {
    guard !rest.utf8.contains(0x23) else {
      throw Self.error(text, cause: "a fragment (\"#…\") is never sent", "write %23 for the character itself")
    }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let origin: WebOrigin
    do throws(OriginFault) {
      origin = try WebOrigin(isTLS: isTLS, authority: rest[..<end])
    } catch {
      throw Self.error(text, cause: error.cause, error.remedy)
    }
    let parts = rest[end...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? ""
    let query = parts.count > 1 ? String(parts[1]) : nil
    if let query { try Self.check(query: query, method, text) }
    let target = path + (query.map { "?" + $0 } ?? "")
    if target.utf8.contains(0x7B) || target.utf8.contains(0x7D) || method.isEndpoint {
      let template = try Self.template(target, method, text)
      place = .web(WebPlace(method: method, origin: origin, query: nil, template: template))
      prefix = NameBytes("")
      isInto = true
      usesPath = template.usesPath || method == .tus
    } else {
      place = .web(WebPlace(method: method, origin: origin, query: query))
      prefix = try Self.webPrefix(path, text)
      isInto = prefix.isEmpty || prefix.bytes.last == 0x2F
      usesPath = true
    }
  }

  private static func template(
    _ target: String, _ method: WebMethod, _ text: String
  ) throws(TransferError) -> URLTemplate {
    guard method != .dav else {
      throw error(text, cause: "WebDAV destinations have no {path} or {name}", "end the URL with a slash")
    }
    guard method != .tus || !target.utf8.contains(0x7B) else {
      throw error(text, cause: "tus destinations have no {path} or {name}", "names go in the metadata of an upload")
    }
    guard let template = URLTemplate(target.hasPrefix("/") ? target : "/" + target) else {
      throw error(
        text, cause: "its template is wrong", "use {path} or {name}, and percent-encode everything that is not URL")
    }
    return template
  }

  private static func webPrefix(_ path: String, _ text: String) throws(TransferError) -> NameBytes {
    guard let bytes = PercentEncoding.decode(path.utf8.dropFirst()) else {
      throw error(
        text, cause: "a \"%\" is not followed by two hexadecimal digits", "write %25 for the character itself")
    }
    let slashes = path.utf8.dropFirst().count { $0 == 0x2F }
    guard !bytes.contains(0), bytes.count(where: { $0 == 0x2F }) == slashes else {
      throw error(text, cause: "%2F and %00 cannot be part of a name", "use a template with {path} or {name}")
    }
    let components = bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard !components.contains(Array(".".utf8)[...]), !components.contains(Array("..".utf8)[...]) else {
      throw error(text, cause: "servers resolve \".\" and \"..\" in their own ways", "write the path without them")
    }
    return NameBytes(bytes)
  }

  /// Parameters whose value is a credential wherever they are used.
  private static let secretParameters: Set<String> = [
    "x-amz-signature", "x-amz-security-token", "x-goog-signature", "signature", "sig", "token", "access_token",
    "password", "passwd", "pwd", "secret", "api_key", "apikey",
  ]

  private static func check(query: String, _ method: WebMethod, _ text: String) throws(TransferError) {
    guard method != .dav else {
      throw error(text, cause: "a WebDAV destination has no query", "take \"?…\" out, or use http(s)://")
    }
    for pair in query.split(separator: "&") {
      let name = PercentEncoding.decode(pair.utf8.prefix { $0 != 0x3D }) ?? []
      guard !secretParameters.contains(String(decoding: name, as: UTF8.self).lowercased()) else {
        throw error(
          text, cause: "its query carries a credential, which would be stored and shown",
          "pass \"--auth bearer=env:NAME\" instead, or rename the parameter if it is none")
      }
    }
    guard query.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw error(text, cause: "its query holds characters that no URL has", "percent-encode them")
    }
  }

  private static func isBucket(_ name: String) -> Bool {
    (3...255).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      } && name.utf8.contains { $0 != 0x2E }
  }

  private static let schemesRemedy = "use one of \(schemes.joined(separator: ", "))"

  private static func error(_ text: String, cause: String, _ remedy: String) -> TransferError {
    TransferError(.usage, "read destination", NameBytes(shown(text)), cause: cause, remedy: remedy)
  }

  /// The text without what may be a secret: between the scheme and the last `@`, and behind a `?`.
  private static func shown(_ text: String) -> String {
    var shown = String(text.prefix { $0 != "?" && $0 != "#" })
    guard let mark = text.range(of: "://") else { return text.utf8.contains(0x40) ? "…" : shown }
    if let at = text.lastIndex(of: "@"), at >= mark.upperBound {
      shown = text[..<mark.upperBound] + "…@" + text[text.index(after: at)...].prefix { $0 != "?" && $0 != "#" }
    }
    return shown
  }
}

extension String {
  /// The first place where `needle` stands.
  fileprivate func range(of needle: String) -> Range<String.Index>? {
    let (hay, needle) = (utf8, Array(needle.utf8))
    var start = hay.startIndex
    while start < hay.endIndex {
      if hay[start...].starts(with: needle) { return start..<hay.index(start, offsetBy: needle.count) }
      start = hay.index(after: start)
    }
    return nil
  }
}
