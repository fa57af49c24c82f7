public import TransferModel

extension ProtocolOption {
  static let field = Self(
    "field", .list,
    "A field of a form, before the file; repeatable. {path} and {name} stand for the file's. It is stored: no secrets.",
    valueName: "name=value")
  static let fileField = Self(
    "file-field", .text, "The field of a form that holds the file (default: file).", valueName: "name")
}

extension BatchSettings {
  /// `name=value` of each field of a form, in order; values may hold `{path}` and `{name}`. Never a secret.
  public var fields: [String]? {
    get { self[list: .field] }
    set { self[list: .field] = newValue }
  }
  /// The field of a form that holds the file; nil for `file`.
  public var fileField: String? {
    get { self[text: .fileField] }
    set { self[text: .fileField] = newValue }
  }
}
