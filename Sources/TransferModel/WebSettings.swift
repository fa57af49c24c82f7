/// What a batch was told about how bodies go to a web server; every part is for some protocols only. Absent parts are nil, so
/// that settings without them are stored as they always were.
public struct WebSettings: Sendable, Hashable, Codable {
  /// `name=value` of each field of a form, in order; values may hold `{path}` and `{name}`. Never a secret.
  public var fields: [String]?
  /// The field of a form that holds the file; nil for `file`.
  public var fileField: String?
  /// `auto` (by the extension of the name) or a media type; nil for what the protocol does by itself.
  public var contentType: String?
  /// `none`, or the algorithm of digests that go with bodies: `sha-256`, `sha-1`, `md5`, `crc32`; nil for what the protocol does by
  /// itself.
  public var digest: String?
  /// Several uploads side by side that the server joins, where it can.
  public var isParallel: Bool?
  /// PATCH and DELETE go as POST with `X-HTTP-Method-Override`.
  public var overridesMethod: Bool?
  /// Version of resumable uploads: `9`, `8`, `6`, `5`, `4`, `3` or `final`; nil for what the server speaks.
  public var interop: String?
  /// A 200 with a web page counts as stored.
  public var acceptsHTML: Bool?
  /// 202 counts as stored.
  public var accepts202: Bool?
  /// How resumable uploads are made: `put` or `post`; nil for PUT.
  public var method: String?

  public init(
    fields: [String]? = nil, fileField: String? = nil, contentType: String? = nil, digest: String? = nil,
    isParallel: Bool? = nil, overridesMethod: Bool? = nil, interop: String? = nil, method: String? = nil,
    acceptsHTML: Bool? = nil, accepts202: Bool? = nil
  ) {
    self.interop = interop
    self.method = method
    self.acceptsHTML = acceptsHTML
    self.accepts202 = accepts202
    self.digest = digest
    self.isParallel = isParallel
    self.overridesMethod = overridesMethod
    self.fields = fields
    self.fileField = fileField
    self.contentType = contentType
  }

  public var isEmpty: Bool { self == WebSettings() }
}
