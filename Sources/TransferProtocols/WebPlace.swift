import TransferModel

/// A web destination: its origin, path and query.
public struct WebPlace: Sendable, Hashable {
  let rules: WebRules
  public let origin: WebOrigin
  /// Sent with every request as typed; without the question mark.
  public let query: String?
  public let template: URLTemplate?
  /// How the beginning of the path was typed, if it was that of a template.
  private let typed: TypedPrefix?

  init(
    rules: WebRules, origin: WebOrigin, query: String?, template: URLTemplate? = nil, typed: TypedPrefix? = nil
  ) {
    self.typed = typed
    self.rules = rules
    self.origin = origin
    self.query = query
    self.template = template
  }

  /// The location of `key` for display; of the destination itself if it is empty.
  func location(_ key: NameBytes) -> String {
    let url = url(key)
    return rules.isEndpoint && !key.isEmpty ? url + "#" + PercentEncoding.path(key.bytes) : url
  }

  /// The URL without a key; for a template the URL with its fields, whose position determines the object.
  var keyPlace: String { origin.place + (template?.text ?? resource(NameBytes(""))) }

  /// What a PUT replaces. A template with one field, in its path, names objects as a folder does, with text before and
  /// behind their keys; any other template is compared only with itself.
  var objectPlace: ObjectPlace {
    guard let template else { return ObjectPlace(origin.place + resource(NameBytes(""))) }
    guard let (before, behind, query) = template.around else { return ObjectPlace(origin.place + template.text) }
    return ObjectPlace(origin.place + "/" + query, before: before, behind: behind)
  }

  /// Servers resolve `.` and `..`: the object would get another name, perhaps above the folder that was meant.
  static func refusal(ofKey key: NameBytes) -> Failure? {
    if key.isEmpty { return Failure(.sourceName, "the name is empty") }
    if key.bytes.contains(0) { return Failure(.sourceName, "the name holds a NUL byte") }
    let components = key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    let isRelative = components.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    return isRelative ? Failure(.sourceName, "the name has a \".\" or \"..\" component") : nil
  }

  /// The encoded URL of `key`.
  func url(_ key: NameBytes) -> String {
    origin.description + (template?.filled(key) ?? resource(key))
  }

  /// Path and query of `key`, without a template.
  private func resource(_ key: NameBytes) -> String {
    "/" + path(key) + (query.map { "?" + $0 } ?? "")
  }
}

extension WebPlace {
  private func path(_ key: NameBytes) -> String {
    guard let typed, key.bytes.starts(with: typed.prefix.bytes) else { return PercentEncoding.path(key.bytes) }
    return typed.text + PercentEncoding.path(Array(key.bytes.dropFirst(typed.prefix.bytes.count)))
  }
}

/// The beginning of the path of a URL, decoded and as it was typed, both without the first slash: servers may
/// distinguish two encodings of one character, so it is sent as typed.
struct TypedPrefix: Sendable, Hashable {
  let prefix: NameBytes
  let text: String
}

/// A template whose only field is at the end of its path: `/in/{path}`, `/in/{name}`, with or without a query. It names
/// the objects of a folder.
struct FolderTemplate {
  let typed: TypedPrefix
  /// The whole path distinguishes objects; otherwise only the name does.
  let usesPath: Bool

  init?(_ path: String) {
    guard let field = ["{path}", "{name}"].first(where: path.hasSuffix) else { return nil }
    let text = path.dropLast(field.count)
    guard text.hasPrefix("/"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x7B && $0 != 0x7D }),
      let prefix = try? Destination.webPrefix(String(text), path)
    else { return nil }
    typed = TypedPrefix(prefix: prefix, text: String(text.dropFirst()))
    usesPath = field == "{path}"
  }
}

/// Path and query of a URL with fields for the name of a file.
public struct URLTemplate: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    /// The whole relative path; its slashes are kept in the path of the URL, and encoded in the query.
    case path
    /// The last component.
    case name
  }

  let pieces: [Piece]

  /// nil if a brace is not part of `{path}` or `{name}`, or if the rest is not valid in a URL.
  init?(_ text: String) {
    var pieces: [Piece] = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      pieces.append(.text(String(rest[..<brace])))
      rest = rest[brace...]
      if rest.hasPrefix("{path}") {
        pieces.append(.path)
      } else if rest.hasPrefix("{name}") {
        pieces.append(.name)
      } else {
        return nil
      }
      rest = rest.dropFirst(6)
    }
    pieces.append(.text(String(rest)))
    let isURL = pieces.allSatisfy { piece in
      guard case .text(let part) = piece else { return true }
      return part.utf8.allSatisfy { (0x21...0x7E).contains($0) } && PercentEncoding.decode(part.utf8) != nil
    }
    guard isURL else { return nil }
    self.pieces = pieces
  }

  /// Whether the whole path distinguishes objects; otherwise only the name does.
  var usesPath: Bool {
    pieces.contains { piece in if case .path = piece { true } else { false } }
  }

  var text: String {
    pieces.map { piece in
      switch piece {
      case .text(let part): part
      case .path: "{path}"
      case .name: "{name}"
      }
    }.joined()
  }

  /// What is before and behind the only field, which is in the path: decoded, without the first slash; and the query
  /// with its question mark. nil for other templates.
  var around: (before: NameBytes, behind: NameBytes, query: String)? {
    guard pieces.count == 3, case .text(let start) = pieces[0], case .text(let end) = pieces[2],
      !start.utf8.contains(0x3F)
    else { return nil }
    let path = end.prefix { $0 != "?" }
    guard let before = PercentEncoding.decode(start.utf8.dropFirst()), let behind = PercentEncoding.decode(path.utf8)
    else { return nil }
    return (NameBytes(before), NameBytes(behind), String(end.dropFirst(path.count)))
  }

  func filled(_ key: NameBytes) -> String {
    var out = ""
    for piece in pieces {
      switch piece {
      case .text(let part): out += part
      case .path where out.utf8.contains(0x3F): out += PercentEncoding.component(key.bytes)
      case .path: out += PercentEncoding.path(key.bytes)
      case .name: out += PercentEncoding.component(key.lastComponent.bytes)
      }
    }
    return out
  }
}
