public import TransferModel

// Options that mean the same to several protocols.
extension ProtocolOption {
  static let partSize = Self(
    "part-size", .bytes, "Size of parts of large files, 5 MiB or more for S3 (default: chosen).", valueName: "bytes")
  static let ifNoneMatch = Self("if-none-match", .flag, "Never replace an existing object at the destination.")
  static let expectContinue = Self("expect-continue", .flag, "Wait for \"100 Continue\" before bodies.")
  static let contentType = Self(
    "content-type", .text,
    """
    Media type of the body: auto (by the extension of the name) or a type (default: auto in forms, else \
    application/octet-stream).
    """, valueName: "type")
  static let acceptHTML = Self(
    "accept-html", .flag,
    "PUT and WebDAV: a web page as the answer (200, text/html) counts as stored; else the file fails.")
  static let accept202 = Self(
    "accept-202", .flag, "Count 202 (accepted for later processing) as stored; otherwise the file is unknown.")
  static let digest = Self(
    "digest", .text,
    """
    Digest sent before bodies: sha-256, for tus also sha-1, md5, crc32 and none (default: for tus what the server \
    announces, else none).
    """, valueName: "name")
}

extension BatchSettings {
  /// Bytes; nil for the default.
  public var partSize: Int64? {
    get { self[bytes: .partSize] }
    set { self[bytes: .partSize] = newValue }
  }
  /// Does not replace existing objects (`If-None-Match: *`).
  public var ifNoneMatch: Bool {
    get { self[flag: .ifNoneMatch] }
    set { self[flag: .ifNoneMatch] = newValue }
  }
  /// Waits for `100 Continue` before bodies.
  public var expectContinue: Bool {
    get { self[flag: .expectContinue] }
    set { self[flag: .expectContinue] = newValue }
  }
  /// `auto` (by the extension of the name) or a media type; nil for the protocol's default.
  public var contentType: String? {
    get { self[text: .contentType] }
    set { self[text: .contentType] = newValue }
  }
  /// A 200 with a web page counts as stored.
  public var acceptsHTML: Bool {
    get { self[flag: .acceptHTML] }
    set { self[flag: .acceptHTML] = newValue }
  }
  /// 202 counts as stored.
  public var accepts202: Bool {
    get { self[flag: .accept202] }
    set { self[flag: .accept202] = newValue }
  }
  /// `none`, or the algorithm of the digests sent with bodies: `sha-256`, `sha-1`, `md5`, `crc32`; nil for the
  /// protocol's default.
  public var digest: String? {
    get { self[text: .digest] }
    set { self[text: .digest] = newValue }
  }
}
