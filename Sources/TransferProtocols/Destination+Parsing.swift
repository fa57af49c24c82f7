import TransferModel

/// Parses a destination as typed.
extension Destination {
  /// - Throws: `.usage`, with the remedy. No message quotes text that may be a secret.
  public init(parsing text: String, _ direction: Direction = .upload) throws(TransferError) {
    do throws(TransferError) { self = try Self.read(text, direction) } catch {
      guard direction == .download else { throw error }
      throw TransferError(error.kind, "read URL", error.subject, cause: error.cause, remedy: error.remedy)
    }
  }

  private static func read(_ text: String, _ direction: Direction) throws(TransferError) -> Destination {
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F }) else {
      throw error(text, cause: "it contains a control character", "percent-encode it where it is meant")
    }
    guard let mark = text.range(of: "://") else {
      let remedy = schemesRemedy(direction)
      throw error(
        text, cause: "it has no scheme",
        direction == .upload ? "\(remedy); \"transfers pull\" fetches into a local folder" : remedy)
    }
    let rest = String(text[mark.upperBound...])
    let scheme = text[..<mark.lowerBound].lowercased()
    guard let definition = AllProtocols.definition(scheme: scheme, direction) else {
      throw error(text, cause: "its scheme is unknown", schemesRemedy(direction))
    }
    switch definition.address {
    case .bucket:
      let destination = try Destination(bucketAndPrefix: rest, definition.name, text)
      let components = destination.prefix.bytes.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
      guard direction == .download || !components.contains(where: { $0 == "." || $0 == ".." }) else {
        throw error(text, cause: "servers resolve \".\" and \"..\" in their own ways", "write the prefix without them")
      }
      return destination
    case .web(_, let rules):
      return try Destination(web: rest, rules, definition.name, isTLS: scheme.hasSuffix("https"), text, direction)
    case .endpoint: preconditionFailure("\(definition.name) has no schemes")
    }
  }

  private init(bucketAndPrefix rest: String, _ name: String, _ text: String) throws(TransferError) {
    let slash = rest.firstIndex(of: "/")
    let bucket = String(slash.map { rest[..<$0] } ?? rest[...])
    guard Self.isBucket(bucket) else {
      throw Self.error(
        text,
        cause: bucket.isEmpty
          ? "it names no bucket"
          : "its bucket name is not valid: 3 to 255 letters, digits, \"-\", \".\" and \"_\"",
        "write s3://BUCKET/PREFIX/")
    }
    place = .bucket(bucket)
    protocolName = name
    usesPath = true
    prefix = NameBytes(slash.map { String(rest[rest.index(after: $0)...]) } ?? "")
    isInto = prefix.isEmpty || prefix.bytes.last == 0x2F
  }

  /// Checked like any web destination, but names of files are not appended to its path.
  init(endpoint web: Destination, _ text: String) throws(TransferError) {
    guard case .web(let place) = web.place, web.protocolName == PutProtocol.put.name, place.template == nil,
      !text.utf8.contains(0x7B)
    else {
      throw Self.error(
        text, cause: "a profile (--via) needs an http or https URL without {path} or {name}",
        "write the URL of the server, http://… or https://…, or leave --via out")
    }
    self.place = .endpoint(place.origin)
    protocolName = ProfileProtocol.definition.name
    prefix = NameBytes("")
    isInto = true
    usesPath = true
  }

  private init(
    web rest: String, _ rules: WebRules, _ name: String, isTLS: Bool, _ text: String, _ direction: Direction
  ) throws(TransferError) {
    protocolName = name
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
    if let query { try Self.check(query: query, rules, text, direction) }
    let target = path + (query.map { "?" + $0 } ?? "")
    if !rules.isEndpoint, rules.templateRefusal == nil, let folder = FolderTemplate(path),
      query?.utf8.contains(where: { $0 == 0x7B || $0 == 0x7D }) != true
    {
      // The same objects as those of the folder: they are known by the same keys.
      place = .web(WebPlace(rules: rules, origin: origin, query: query, typed: folder.typed))
      (prefix, isInto, usesPath) = (folder.typed.prefix, true, folder.usesPath)
    } else if target.utf8.contains(0x7B) || target.utf8.contains(0x7D) || rules.isEndpoint {
      let template = try Self.template(target, rules, text)
      place = .web(WebPlace(rules: rules, origin: origin, query: nil, template: template))
      prefix = NameBytes("")
      isInto = true
      usesPath = template.usesPath || rules.tellsKeys
    } else {
      place = .web(WebPlace(rules: rules, origin: origin, query: query))
      prefix = try Self.webPrefix(path, text)
      isInto = prefix.isEmpty || prefix.bytes.last == 0x2F
      usesPath = true
    }
  }

  private static func template(
    _ target: String, _ rules: WebRules, _ text: String
  ) throws(TransferError) -> URLTemplate {
    if let refusal = rules.templateRefusal, target.utf8.contains(0x7B) || !rules.isEndpoint {
      throw error(text, cause: refusal.cause, refusal.remedy)
    }
    guard let template = URLTemplate(target.hasPrefix("/") ? target : "/" + target) else {
      throw error(
        text, cause: "its template is invalid", "use {path} or {name}, and percent-encode everything that is not URL")
    }
    return template
  }

  static func webPrefix(_ path: String, _ text: String) throws(TransferError) -> NameBytes {
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

  private static func check(
    query: String, _ rules: WebRules, _ text: String, _ direction: Direction
  ) throws(TransferError) {
    if let refusal = rules.queryRefusal { throw error(text, cause: refusal.cause, refusal.remedy) }
    guard !CredentialQuery.isOne(query) else {
      throw error(
        text, cause: "its query contains a credential or signature, which would be stored and shown",
        direction == .download
          ? "give the URL without it, and a command that prints the signed URL (--url-command), or a token (--auth)"
          : "pass \"--auth bearer=env:NAME\" instead, or rename the parameter if it is not a credential")
    }
    guard query.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw error(text, cause: "its query contains characters that are invalid in a URL", "percent-encode them")
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

  private static func schemesRemedy(_ direction: Direction) -> String {
    let known = direction == .upload ? schemes : AllProtocols.downloads.flatMap(\.schemes)
    return "use one of \(known.joined(separator: ", "))"
  }

  private static func error(_ text: String, cause: String, _ remedy: String) -> TransferError {
    TransferError(.usage, "read destination", NameBytes(shown(text)), cause: cause, remedy: remedy)
  }

  /// The text without possible secrets: between the scheme and the last `@`, and after `?`.
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
  /// The first range of `needle`.
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
