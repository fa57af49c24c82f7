import HTTPTypes
public import TransferModel

// Rules for the properties of objects: their syntax, and the destinations that support them.

extension ObjectRule {
  /// `GLOB:SETTING=VALUE`, with the settings of ``ObjectSetting/name``. Headers set by the protocol itself are refused,
  /// as are headers that may be secrets, which the ledger must not contain.
  /// - Throws: `.usage`.
  public init(parsing text: String) throws(TransferError) {
    guard let (pattern, setting, value) = Self.parts(text), !pattern.isEmpty else {
      throw Self.refusal(
        text, "it is not GLOB:SETTING=VALUE",
        "write for example '**/*.csv:content_type=text/csv'; settings are content_type, storage_class, header.NAME, tag.KEY"
      )
    }
    self.init(pattern: pattern, setting: setting, value: value)
    guard let problem = setting.problem(value: value) else { return }
    // The value of a header may be a secret.
    throw Self.refusal("\(pattern):\(setting.name)", problem.cause, problem.remedy)
  }

  /// The first position where a setting follows a colon, because values may contain colons and equals signs.
  private static func parts(_ text: String) -> (pattern: String, ObjectSetting, value: String)? {
    var rest = text[...]
    while let colon = rest.firstIndex(of: ":") {
      rest = text[text.index(after: colon)...]
      guard let equals = rest.firstIndex(of: "="), let setting = ObjectSetting(name: String(rest[..<equals])),
        !rest[..<equals].contains(":")
      else { continue }
      return (String(text[..<colon]), setting, String(rest[rest.index(after: equals)...]))
    }
    return nil
  }

  private static func refusal(_ text: String, _ cause: String, _ remedy: String) -> TransferError {
    TransferError(.usage, "read --rule", NameBytes(text), cause: cause, remedy: remedy)
  }
}

extension ObjectSetting {
  struct Problem {
    let cause, remedy: String
  }

  func problem(value: String) -> Problem? {
    switch self {
    case .contentType:
      guard value != "auto", !MediaTypeChoice.isValid(value) else { return nil }
      return Problem(cause: "\"\(value)\" is not a media type", remedy: "write one as text/csv, or auto")
    case .storageClass:
      guard value.isEmpty || !value.utf8.allSatisfy(MediaTypeChoice.isTokenByte) else { return nil }
      return Problem(cause: "\"\(value)\" is not a storage class", remedy: "write one as STANDARD_IA")
    case .header(let name): return HeaderName(name).problem(value: value)
    case .tag(let key): return Self.problem(tag: key, value: value)
    }
  }

  /// Source: "Categorizing your storage using tags", Amazon S3 user guide.
  private static func problem(tag key: String, value: String) -> Problem? {
    let isFitting = key.unicodeScalars.count <= 128 && value.unicodeScalars.count <= 256
    guard isFitting, !key.lowercased().hasPrefix("aws:") else {
      return Problem(
        cause: "a tag has at most 128 characters, its value 256, and it does not begin with \"aws:\"",
        remedy: "shorten or rename it")
    }
    let isPlain = (key + value).unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || " +-=._:/@0123456789".unicodeScalars.contains($0)
    }
    return isPlain
      ? nil : Problem(cause: "a tag has letters, digits, spaces and + - = . _ : / @ only", remedy: "rename it")
  }

  /// The name of a request field, in lower case.
  private struct HeaderName {
    let name: String

    init(_ name: String) { self.name = name }

    func problem(value: String) -> Problem? {
      guard name.utf8.allSatisfy(MediaTypeChoice.isTokenByte) else {
        return Problem(cause: "it is not the name of a header", remedy: "write one as header.cache-control")
      }
      if let setting = Self.settings[name] {
        return Problem(cause: "\(setting) sets this header", remedy: "write \(setting) for header.\(name)")
      }
      if isSecret || Self.isCredential(value) {
        return Problem(
          cause: "it may be a secret, and headers of rules are recorded in the ledger",
          remedy: "give credentials with --auth, by reference")
      }
      guard !isOwn else {
        return Problem(cause: "the program or the protocol sets this header itself", remedy: "leave it out")
      }
      let isText =
        value.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !value.hasPrefix(" ") && !value.hasSuffix(" ")
      guard !isText || value.isEmpty || value.utf8.count > 4_096 else { return nil }
      return Problem(
        cause: "the value of a header is printable ASCII of 1 to 4096 bytes without spaces at its ends",
        remedy: "correct the value")
    }

    private static let settings = [
      "content-type": "content_type", "x-amz-storage-class": "storage_class", "x-amz-tagging": "tag.KEY",
    ]

    /// Words in names of headers whose values are often secrets.
    private var isSecret: Bool {
      let words: Set<Substring> = [
        "auth", "authorization", "cookie", "credential", "credentials", "passwd", "password", "secret", "sig",
        "signature", "token", "apikey",
      ]
      return !words.isDisjoint(with: name.split { $0 == "-" || $0 == "_" })
        || ["api-key", "api_key", "access-key", "customer-key"].contains(where: name.contains)
    }

    private static func isCredential(_ value: String) -> Bool {
      let lower = value.lowercased()
      return ["bearer ", "basic ", "digest ", "aws4-hmac"].contains(where: lower.hasPrefix)
    }

    /// Headers that control how a request is sent or what it is for. `Content-Encoding` is allowed, because an encoded
    /// body is still the file as it is.
    private var isOwn: Bool {
      let names: Set<String> = [
        "connection", "content-digest", "content-length", "content-md5", "content-range", "date", "destination",
        "expect", "host", "http2-settings", "if", "incremental", "keep-alive", "location", "overwrite",
        "prefer", "range", "repr-digest", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "via", "want-content-digest", "want-repr-digest",
        "x-http-method", "x-http-method-override", "x-method-override", "x-update-range", "accept", "accept-encoding",
        "x-amz-meta-transfers-uid", "depth",
      ]
      if names.contains(name) { return true }
      if name.hasPrefix("x-amz-") { return !Self.ofObjects.contains(where: name.hasPrefix) }
      return ["if-", "proxy-", "tus-", "upload-"].contains(where: name.hasPrefix)
    }

    /// Headers of the S3 API for properties that an object gets at its creation.
    private static let ofObjects = [
      "x-amz-meta-", "x-amz-acl", "x-amz-grant-", "x-amz-object-lock-", "x-amz-website-redirect-location",
      "x-amz-server-side-encryption",
    ]
  }
}

extension HTTPFields {
  /// The headers that rules set.
  mutating func add(_ properties: ObjectProperties) {
    for header in properties.headers { HTTPField.Name(header.name).map { self[$0] = header.value } }
  }
}

extension Destination {
  /// The first of the properties that objects at this destination do not have, in the order of names.
  public func unsupported(_ settings: [String: String]) -> String? {
    let supported = definition.objectSettings
    return settings.keys.sorted().first { name in
      ObjectSetting(name: name).map { !supported.contains($0.kind) } ?? true
    }
  }
}

extension AllProtocols {
  /// Settings of the rules that the destination does not support, like ``unsupportedOptions(_:)``.
  /// - Throws: `.usage` for an invalid destination.
  public static func unsupportedRules(_ settings: BatchSettings) throws(TransferError) -> [ObjectRule] {
    guard let rules = settings.rules, !rules.isEmpty else { return [] }
    let supported = try Destination(settings).definition.objectSettings
    return rules.filter { rule in ObjectSetting(name: rule.setting).map { !supported.contains($0.kind) } ?? true }
  }

  static func refuseUnsupportedRules(_ settings: BatchSettings) throws(TransferError) {
    if let foreign = try unsupportedRules(settings).first {
      throw TransferError(
        .usage, "read --rule", NameBytes(foreign.text), cause: "this destination has no \(foreign.setting)",
        remedy: "leave it out; \(Self.words(for: foreign))")
    }
    let tags = Set((settings.rules ?? []).map(\.setting).filter { $0.hasPrefix("tag.") })
    guard tags.count > 10 else { return }
    throw TransferError(
      .usage, "read --rule", cause: "they set \(tags.count) different tags, and an object has 10 at most",
      remedy: "give fewer")
  }

  private static func words(for rule: ObjectRule) -> String {
    let kind = ObjectSetting(name: rule.setting)?.kind
    let knowing = definitions.filter { definition in kind.map(definition.objectSettings.contains) ?? false }
    return "it is for \(knowing.map(\.words).joined(separator: ", ")) destinations"
  }
}
