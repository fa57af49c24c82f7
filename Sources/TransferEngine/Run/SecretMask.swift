import TransferModel
import TransferProtocols

/// Masks secrets in text from a server or a library before it is stored: servers often quote the request.
///
/// A secret is masked wherever it occurs, even percent-encoded, escaped, or in base64. A secret that could be an
/// ordinary word or a number is masked only as a value: as a whole word that is not the name of a JSON member, an XML
/// element or a parameter, and not a JSON number. Names are chosen by the server's program, and answers without them
/// would be meaningless.
struct SecretMask: Sendable {
  private let secrets: [String]
  /// URLs of upload sessions, which work as secrets. Read only if a text may contain one.
  private let urls: @Sendable () -> [String]
  /// Names of query parameters and fields whose value is a secret or works as one, wherever they occur; ``QueryMask``
  /// knows more of them.
  private static let names = [
    "X-Amz-Signature=", "X-Amz-Security-Token=", "Signature=", "sig=", "upload_id=", "tempauth=", "Bearer ", "Basic ",
  ]
  /// Minimum length of a secret from a server, in bytes; the path of a session is longer.
  static let shortest = 8
  private static let marker = Array("[hidden]".utf8)

  /// `learned` may hold secrets that servers gave; `capabilities` are ``TransferFacts/capabilities``.
  init(
    _ credential: Credential?, _ learned: [LearnedFacts] = [],
    capabilities: @autoclosure @escaping @Sendable () -> [String] = []
  ) {
    let texts: [String?] =
      switch credential {
      case nil: []
      case .aws(_, let secretKey, let sessionToken): [secretKey, sessionToken]
      case .basic(let user, let password): [password, base64(Array("\(user):\(password)".utf8))]
      case .bearer(let token): [token]
      case .inputs(let values): Array(values.values)
      }
    // Shorter values are not secrets, and occur by chance in too many answers.
    let given = learned.flatMap(\.secrets.values).filter { $0.utf8.count >= Self.shortest }
    secrets = (texts.compactMap { $0 } + given).filter { !$0.isEmpty }
    urls = capabilities
  }

  // MARK: - Encodings

  /// The encodings of secrets that may occur in `text`: most answers contain none.
  private func forms(in text: [UInt8]) -> [SecretForm] {
    let found = secrets.filter { secret in
      guard secret.utf8.count <= text.count else { return false }
      return SecretForm.traces(of: secret).contains { Self.contains(text, $0) }
    }
    return Self.sorted(found.flatMap(SecretForm.all(of:)))
  }

  /// Encodings of the session URLs: complete, and as the server refers to them.
  private func capabilities(in text: [UInt8]) -> [SecretForm] {
    guard text.count > Self.shortest else { return [] }
    let found = urls().compactMap(SessionURLForms.init).filter { url in
      // The path ends with the first of the names.
      url.names.contains { Self.contains(text, SecretForm.longestWord(Array($0.utf8))) }
    }
    return Self.sorted(found.flatMap(\.all))
  }

  private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
    guard let first = word.first else { return true }
    guard word.count <= text.count else { return false }
    return text.withUnsafeBufferPointer { text in
      word.withUnsafeBufferPointer { word in
        for start in 0...text.count - word.count where text[start] == first {
          var length = 1
          while length < word.count, text[start + length] == word[length] { length += 1 }
          if length == word.count { return true }
        }
        return false
      }
    }
  }

  /// Longer ones first, because they may contain shorter ones.
  private static func sorted(_ forms: [SecretForm]) -> [SecretForm] {
    forms.sorted { $0.bytes.count > $1.bytes.count }
  }

  // MARK: - Applying

  /// The reply with secrets masked in its body. A successful answer is parsed by the protocol, which may need values
  /// that only look like secrets (a signed URL): there, only our own secrets are masked. A large successful answer is a
  /// listing, and quotes nothing of the request.
  func applied(to reply: TransferReply) -> TransferReply {
    let isSuccess = reply.status < 300
    var masked = appliedToIDs(of: reply)
    guard !reply.body.isEmpty, !isSuccess || (reply.body.count <= 64 << 10 && !secrets.isEmpty) else { return masked }
    masked.body = isSuccess ? applied(reply.body, forms(in: reply.body), names: []) : applied(reply.body)
    return masked
  }

  /// The reply with secrets masked in the server's request ID, which may contain anything from the request.
  func appliedToIDs(of reply: TransferReply) -> TransferReply {
    var masked = reply
    masked.changeRequestIDs { String(decoding: applied(toExcerpt: Array($0.utf8)), as: UTF8.self) }
    return masked
  }

  func applied(_ text: String) -> String { String(decoding: applied(Array(text.utf8)), as: UTF8.self) }

  func applied(_ bytes: [UInt8]) -> [UInt8] {
    applied(bytes, forms(in: bytes) + capabilities(in: bytes), names: Self.names)
  }

  /// The beginning of a successful answer that is stored because the answer was invalid: it may contain a session that
  /// is not recorded yet.
  func applied(toExcerpt bytes: [UInt8]) -> [UInt8] { withoutPaths(applied(bytes)) }

  /// Reduces each URL to its origin.
  private func withoutPaths(_ bytes: [UInt8]) -> [UInt8] {
    guard Self.contains(bytes, Array("http".utf8)) else { return bytes }
    var out: [UInt8] = []
    var rest = bytes[...]
    while let first = rest.first {
      guard rest.starts(with: "http".utf8), let length = Self.originLength(rest) else {
        out.append(first)
        rest = rest.dropFirst()
        continue
      }
      out += rest.prefix(length)
      rest = rest.dropFirst(length)
      guard let next = rest.first, !Self.endsValue(next) else { continue }
      out += [0x2F] + Self.marker
      rest = rest.drop { !Self.endsValue($0) }
    }
    return out
  }

  /// For our own message around text from an answer with a masked body: ordinary words are ours.
  func applied(toMessage text: String) -> String {
    let bytes = Array(text.utf8)
    let forms = (forms(in: bytes) + capabilities(in: bytes)).filter { !$0.isOrdinary }
    let sharp = applied(bytes, forms, names: Self.names)
    return String(decoding: withoutPaths(sharp), as: UTF8.self)
  }

  /// The length of `https://host:port` at the start, also with escaped slashes; nil if there is none.
  private static func originLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    for scheme in ["http://", "https://", "http:\\/\\/", "https:\\/\\/"] where bytes.starts(with: scheme.utf8) {
      let host = bytes.dropFirst(scheme.utf8.count).prefix { !endsValue($0) && $0 != 0x2F && $0 != 0x3F && $0 != 0x5C }
      return scheme.utf8.count + host.count
    }
    return nil
  }

  private func applied(_ bytes: [UInt8], _ forms: [SecretForm], names: [String]) -> [UInt8] {
    // Each of the names ends with one of these two bytes, and each query begins with the third.
    let hasNames = !names.isEmpty && bytes.contains { $0 == 0x3D || $0 == 0x20 || $0 == 0x3F }
    if forms.isEmpty && !hasNames { return bytes }
    let places = forms.contains(where: \.isOrdinary) ? TextPlaces(bytes) : nil
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let first = rest.first {
      if let form = forms.first(where: { rest.starts(with: $0.bytes) && stands($0, at: rest.startIndex, places) }) {
        out += Self.marker
        rest = rest.dropFirst(form.bytes.count)
      } else if !names.isEmpty, let query = QueryMask.masked(rest, in: bytes, Self.marker) {
        out += query.shown
        rest = rest.dropFirst(query.length)
      } else if let name = names.first(where: { rest.starts(with: $0.utf8) }) {
        out += Array(name.utf8) + Self.marker
        rest = rest.dropFirst(name.utf8.count).drop { !Self.endsValue($0) }
      } else {
        out.append(first)
        rest = rest.dropFirst()
      }
    }
    return out
  }

  private func stands(_ form: SecretForm, at start: Int, _ places: TextPlaces?) -> Bool {
    guard form.isOrdinary, let places else { return true }
    return places.isValue(start..<start + form.bytes.count)
  }

  static func endsValue(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x26 || byte == 0x2C || byte == 0x22 || byte == 0x27 || byte == 0x3C || byte == 0x3E
  }
}
