public import TransferModel

/// The URL of one file to fetch, in the two parts that a ledger stores: the server, and the key on it.
public struct DownloadURL: Sendable, Hashable {
  public let origin: DownloadOrigin
  /// The remote key. For a web server: path and query as they are sent, without the leading slash, in visible ASCII.
  /// For a bucket: the unchanged key.
  public let key: NameBytes
  /// The local name of the file: the last component of the path, decoded.
  public let name: NameBytes

  /// Parses an absolute URL. Characters that are invalid in a URL (spaces, non-ASCII letters) are percent-encoded, as
  /// browsers do.
  /// - Throws: `.usage`, with the remedy. No message quotes text that may be a secret.
  /// - Parameter listsFolders: also accepts a URL that names all objects below a prefix.
  public init(_ text: String, listsFolders: Bool = false) throws(TransferError) {
    let text = try PlainURL.of(text)
    if let (origin, key) = try Self.object(text) {
      try self.init(origin, object: key, shown: text, listsFolders: listsFolders)
    } else {
      let (origin, target) = try Self.split(text)
      try self.init(origin, target: target, shown: text, listsFolders: listsFolders)
    }
  }

  /// The path contains a slash that does not separate components.
  package var hasEncodedSlash: Bool {
    guard isEncoded else { return false }
    let path = key.bytes.prefix { $0 != 0x3F }
    return path.indices.contains { path[$0...].starts(with: "%2F".utf8) || path[$0...].starts(with: "%2f".utf8) }
  }

  /// The key is that of a URL: an encoded path, perhaps with a query.
  private var isEncoded: Bool { if case .web = origin { true } else { false } }

  /// For an origin and a key that were parsed before.
  package init(_ origin: DownloadOrigin, key: NameBytes) {
    (self.origin, self.key) = (origin, key)
    guard case .web = origin else {
      name = key.lastComponent
      return
    }
    let path = key.bytes.prefix { $0 != 0x3F }
    name = NameBytes(PercentEncoding.decode(path[(path.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0)...]) ?? [])
  }

  /// Names everything below it.
  public var isFolder: Bool { key.isFolder }

  /// The file at `path`, which is not encoded, below this one, which is a folder.
  public func appending(_ path: NameBytes, listsFolders: Bool = false) throws(TransferError) -> DownloadURL {
    guard isEncoded else {
      return try DownloadURL(
        origin, object: NameBytes(key.bytes + path.bytes), shown: "\(self)\(path.embedded)",
        listsFolders: listsFolders)
    }
    let below = Array(PercentEncoding.path(path.bytes).utf8)
    return try DownloadURL(origin, target: key.bytes + below, shown: "\(self)", listsFolders: listsFolders)
  }

  /// A base URL: without a query; a trailing slash is added if it has none.
  public init(base text: String) throws(TransferError) {
    name = NameBytes("")
    let text = try PlainURL.base(text)
    if let (origin, key) = try Self.object(text) {
      self.origin = origin
      self.key = NameBytes(key.bytes + (key.isEmpty || key.bytes.last == 0x2F ? [] : [0x2F]))
      return
    }
    guard !text.utf8.contains(0x3F) else {
      throw TransferError(
        .usage, "read base URL", NameBytes(String(text.prefix { $0 != "?" })), cause: "it has a query",
        remedy: "name the folder that the paths are relative to")
    }
    let (origin, target) = try Self.split(text)
    self.origin = origin
    key = NameBytes(Self.encoded(target) + (target.isEmpty || target.last == 0x2F ? [] : [0x2F]))
  }

  /// The decoded path from `base` to this URL; nil if this URL is not below `base`.
  public func path(below base: DownloadURL) -> NameBytes? {
    guard origin == base.origin, key.bytes.count > base.key.bytes.count, key.bytes.starts(with: base.key.bytes)
    else { return nil }
    let below = key.bytes.dropFirst(base.key.bytes.count)
    return isEncoded
      ? PercentEncoding.decode(below.prefix { $0 != 0x3F }).map { NameBytes($0) } : NameBytes(Array(below))
  }

  /// The object that `text` names in a bucket; nil for another kind of URL.
  private static func object(_ text: String) throws(TransferError) -> (origin: DownloadOrigin, key: NameBytes)? {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    guard let definition = AllProtocols.definition(scheme: scheme, .download), case .bucket = definition.address else {
      return nil
    }
    let destination = try Destination(parsing: text, .download)
    return (.bucket(try destination.bucket, scheme: scheme), destination.prefix)
  }

  private init(
    _ origin: DownloadOrigin, object key: NameBytes, shown text: String, listsFolders: Bool = false
  ) throws(TransferError) {
    (self.origin, self.key, name) = (origin, key, key.lastComponent)
    let components = key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard !components.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
      throw Self.error(
        text, "servers and proxies resolve \".\" and \"..\" in keys", "copy the object to a key without them")
    }
    guard !name.isEmpty || listsFolders else {
      throw Self.error(text, "it names a folder", "name single objects here, and folders as arguments")
    }
  }

  private init(
    _ origin: DownloadOrigin, target: [UInt8], shown text: String, listsFolders: Bool = false
  ) throws(TransferError) {
    self.origin = origin
    key = NameBytes(Self.encoded(target))
    let path = key.bytes.prefix { $0 != 0x3F }.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard !path.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
      throw Self.error(text, "servers resolve \".\" and \"..\" in their own ways", "write the path without them")
    }
    guard let name = PercentEncoding.decode(path.last ?? []) else {
      throw Self.error(text, "a \"%\" is not followed by two hexadecimal digits", "write %25 for the character itself")
    }
    guard !name.isEmpty || (listsFolders && origin.listsCollections && key.isFolder) else {
      throw Self.error(
        text, "it names a folder",
        "name single files, give a list of them with --files-from, or write dav+http:// where the server speaks WebDAV")
    }
    self.name = NameBytes(name)
  }

  /// Checks for credentials, fragments and control characters with the parser of destinations, which knows them.
  private static func split(_ text: String) throws(TransferError) -> (origin: DownloadOrigin, target: [UInt8]) {
    let bytes = Array(text.utf8)
    // Its error names the text as it was typed.
    if !text.contains("://") { _ = try Destination(parsing: text, .download) }
    let colon = bytes.firstIndex(of: 0x3A) ?? bytes.count
    let rest = bytes[min(colon + 3, bytes.count)...]
    let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    let behindPath = bytes[end...].drop { $0 != 0x3F && $0 != 0x23 }
    // Braces are not templates here.
    let isBrace = { (byte: UInt8) in byte == 0x7B || byte == 0x7D }
    let checked = bytes[..<end] + [0x2F] + behindPath.filter { !isBrace($0) && (0x21...0x7E).contains($0) }
    guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw error(text, "it contains a control character", "percent-encode it where it is meant")
    }
    let destination = try Destination(parsing: String(decoding: checked, as: UTF8.self), .download)
    return (
      .web(try destination.webOrigin(), prefix: destination.definition.prefix), Array(bytes[end...].drop { $0 == 0x2F })
    )
  }

  private static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.flatMap { byte in
      isUnsafe(byte) ? Array(PercentEncoding.component(CollectionOfOne(byte)).utf8) : [byte]
    }
  }

  /// Characters that RFC 3986 does not allow; a `%` is taken as the start of an encoded byte.
  private static func isUnsafe(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x7F...0xFF: true
    default: false
    }
  }

  private static func error(_ text: String, _ cause: String, _ remedy: String) -> TransferError {
    let shown = String(text.prefix { $0 != "?" })
    return TransferError(.usage, "read URL", NameBytes(shown), cause: cause, remedy: remedy)
  }
}

extension DownloadURL: CustomStringConvertible {
  /// The URL without its query.
  public var description: String {
    origin.description + "/" + String(decoding: key.bytes.prefix { $0 != 0x3F || !isEncoded }, as: UTF8.self)
  }
}
