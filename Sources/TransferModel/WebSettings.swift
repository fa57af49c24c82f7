/// What a batch was told about how bodies go to a web server; every part is for some protocols only. Absent parts are nil, so
/// that settings without them are stored as they always were.
public struct WebSettings: Sendable, Hashable, Codable {
  /// `name=value` of each field of a form, in order; values may hold `{path}` and `{name}`. Never a secret.
  public var fields: [String]?
  /// The field of a form that holds the file; nil for `file`.
  public var fileField: String?
  /// `auto` (by the extension of the name) or a media type; nil for what the protocol does by itself.
  public var contentType: String?

  public init(fields: [String]? = nil, fileField: String? = nil, contentType: String? = nil) {
    self.fields = fields
    self.fileField = fileField
    self.contentType = contentType
  }

  public var isEmpty: Bool { self == WebSettings() }
}
