import TransferModel

/// One request of a profile, rendered.
struct RenderedRequest: Sendable, Hashable {
  var method: String
  /// Absolute.
  var url: String
  var headers: [Header] = []
  var body = RenderedBody.none

  struct Header: Sendable, Hashable {
    var name: String
    var value: String
  }
}

extension RenderedRequest {
  /// The common part of a step and a poll.
  struct Source {
    var method: String
    var url: Template
    var query: [TemplateField]
    var headers: [TemplateField]
    var usesAuth: Bool
    var body = BodyRules.none

    /// All variables in the request, without those in the headers for all steps.
    var variables: [Expression.Variable] {
      (query + headers).flatMap(\.value.variables) + url.variables + body.variables
    }
  }

  init(_ source: Source, of profile: Profile, _ scope: ProfileScope, uid: UID) throws(RenderFault) {
    method = source.method
    url = try Self.url(source, profile, scope)
    let (body, type) = try source.body.render(scope, uid: uid)
    self.body = body
    // Later headers replace earlier ones of the same name.
    var fields = profile.headers
    if source.usesAuth { fields += profile.auth.headers }
    try add(fields + source.headers, scope)
    if let type, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      headers.append(Header(name: "Content-Type", value: type))
    }
  }

  private mutating func add(_ fields: [TemplateField], _ scope: ProfileScope) throws(RenderFault) {
    for field in fields {
      let value = try Self.headerValue(field, scope)
      headers.removeAll { $0.name.lowercased() == field.name.lowercased() }
      if !(field.isOptional && value.isEmpty) { headers.append(Header(name: field.name, value: value)) }
    }
  }

  /// A line break would end the field and begin another one: a server's token must not be able to do that.
  private static func headerValue(_ field: TemplateField, _ scope: ProfileScope) throws(RenderFault) -> String {
    let bytes = try field.value.render(scope)
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw RenderFault(.value, "the header \(field.name) would hold a line break or another control character")
    }
    return try TemplateValue.text(bytes).text()
  }

  // MARK: - URL

  private static func url(_ source: Source, _ profile: Profile, _ scope: ProfileScope) throws(RenderFault) -> String {
    let text = try source.url.render(scope)
    guard text.allSatisfy(isURLByte), PercentEncoding.decode(text) != nil else {
      throw RenderFault(.value, "a URL would contain invalid characters: use \"| pathencode\" or \"| urlencode\"")
    }
    var url = String(decoding: text, as: UTF8.self)
    if URLReference.Parts(url).scheme == nil { url = try joined(url, profile, scope) }
    guard WebOrigin(url: url) != nil, !url.utf8.contains(0x23) else {
      throw RenderFault(.value, "a URL is not an absolute http or https URL without user information and \"#\"")
    }
    return url + (try query(source.query, scope, isFirst: !url.utf8.contains(0x3F)))
  }

  /// A relative URL is appended to `base_url`, or to the destination if there is none.
  private static func joined(
    _ path: String, _ profile: Profile, _ scope: ProfileScope
  ) throws(RenderFault) -> String {
    var base: String
    if let template = profile.baseURL {
      base = try template.text(scope)
    } else {
      base = try (scope.input["url"] ?? .missing("input.url")).text()
    }
    while base.hasSuffix("/") { base.removeLast() }
    let url = path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") ? base + path : base + "/" + path
    guard !scope.query.isEmpty else { return url }
    return url + (url.utf8.contains(0x3F) ? "&" : "?") + scope.query
  }

  private static func query(
    _ fields: [TemplateField], _ scope: ProfileScope, isFirst: Bool
  ) throws(RenderFault) -> String {
    var out = ""
    for field in fields {
      let value = try field.value.render(scope)
      if field.isOptional && value.isEmpty { continue }
      out += out.isEmpty && isFirst ? "?" : "&"
      out += PercentEncoding.component(field.name) + "=" + PercentEncoding.component(value)
    }
    return out
  }

  /// The characters of RFC 3986 section 2.
  private static func isURLByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25: true
    case 0x21, 0x23, 0x24, 0x26...0x2C, 0x2F, 0x3A, 0x3B, 0x3D, 0x3F, 0x40, 0x5B, 0x5D: true
    default: false
    }
  }
}
