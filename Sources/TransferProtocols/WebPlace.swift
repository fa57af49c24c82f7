import TransferModel

/// How a body is handed to a plain web server.
public enum WebMethod: String, Sendable, Hashable, CaseIterable {
  case put, post, dav
}

/// A web destination: the origin and what is sent to it.
public struct WebPlace: Sendable, Hashable {
  public let method: WebMethod
  public let origin: WebOrigin
  /// Sent with every request as typed; without the question mark.
  public let query: String?
  public let template: URLTemplate?

  init(method: WebMethod, origin: WebOrigin, query: String?, template: URLTemplate? = nil) {
    self.method = method
    self.origin = origin
    self.query = query
    self.template = template
  }

  /// The encoded URL of `key`.
  func url(_ key: NameBytes) -> String {
    if let template { return origin.description + template.filled(key) }
    return origin.description + "/" + PercentEncoding.path(key.bytes) + (query.map { "?" + $0 } ?? "")
  }
}

/// Path and query of a URL with places for the name of a file.
public struct URLTemplate: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    /// The whole relative path; its slashes stay in the path of the URL and are encoded in the query.
    case path
    /// The last component.
    case name
  }

  let pieces: [Piece]

  /// nil when a brace is not part of `{path}` or `{name}`, or the rest is not text that a URL can hold.
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

  /// Whether objects are told apart by the whole path; else only by the name.
  var usesPath: Bool {
    pieces.contains { piece in if case .path = piece { true } else { false } }
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
