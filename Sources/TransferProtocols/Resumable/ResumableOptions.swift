public import TransferModel

extension ProtocolOption {
  static let interop = Self(
    "interop", .text, "Version of resumable uploads: 9, 8, 6, 5, 4, 3 or final (default: 9, then 8).",
    valueName: "version")
  static let method = Self(
    "method", .text, "How resumable uploads are made: put or post (default: put).", valueName: "method")
}

extension BatchSettings {
  /// Version of resumable uploads: `9`, `8`, `6`, `5`, `4`, `3` or `final`; nil for the version that the server
  /// supports.
  public var interop: String? {
    get { self[text: .interop] }
    set { self[text: .interop] = newValue }
  }
  /// How resumable uploads are made: `put` or `post`; nil for PUT.
  public var method: String? {
    get { self[text: .method] }
    set { self[text: .method] = newValue }
  }
}
