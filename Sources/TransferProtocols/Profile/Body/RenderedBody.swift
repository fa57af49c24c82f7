import TransferModel

/// The body of one request, as it is sent.
enum RenderedBody: Sendable, Hashable {
  case none
  case bytes([UInt8])
  /// The bytes of the chunk, between a prefix and a suffix.
  case envelope(prefix: [UInt8], suffix: [UInt8])
}

extension BodyRules {
  /// The body, and its media type unless the headers of the step specify one. `uid` is that of the file.
  func render(_ scope: ProfileScope, uid: UID) throws(RenderFault) -> (body: RenderedBody, type: String?) {
    switch self {
    case .none: return (.none, nil)
    case .empty: return (.bytes([]), nil)
    case .raw: return (.envelope(prefix: [], suffix: []), MediaType.unknown)
    case .multipart(let items): return try Self.multipart(items, scope, Multipart(uid: uid))
    case .form(let items): return (.bytes(try Self.form(items, scope)), "application/x-www-form-urlencoded")
    case .json(let tree): return (.bytes(Array(try tree.jsonText(scope).utf8)), "application/json")
    case .xml(let tree): return (.bytes(Array(try tree.xmlText(scope).utf8)), "application/xml")
    case .text(let template): return (.bytes(try template.render(scope)), "text/plain")
    }
  }

  private static func multipart(
    _ items: [FormItem], _ scope: ProfileScope, _ empty: Multipart
  ) throws(RenderFault) -> (RenderedBody, String?) {
    var form = empty
    for item in items {
      switch item {
      case .field(let field):
        let value = try field.value.render(scope)
        if field.isOptional && value.isEmpty { continue }
        form.add(name: Array(field.name.utf8), value: value)
      case .file(let name, let filename, let type):
        form.addFile(
          name: try name.render(scope), filename: try filename?.render(scope) ?? Array("blob".utf8),
          type: try type?.render(scope) ?? Array(MediaType.unknown.utf8))
      }
    }
    let body: RenderedBody =
      form.hasFile
      ? .envelope(prefix: form.prefix, suffix: form.suffix) : .bytes(form.prefix + form.suffix)
    return (body, form.contentType)
  }

  /// `application/x-www-form-urlencoded`, with `%20` for a space, which every server accepts.
  private static func form(_ items: [FormItem], _ scope: ProfileScope) throws(RenderFault) -> [UInt8] {
    var pairs: [String] = []
    for case .field(let field) in items {
      let value = try field.value.render(scope)
      if field.isOptional && value.isEmpty { continue }
      pairs.append(PercentEncoding.component(field.name) + "=" + PercentEncoding.component(value))
    }
    return Array(pairs.joined(separator: "&").utf8)
  }
}
