import TransferModel

/// What tusd says in the body of an error: `ERR_CODE: text`.
/// Source: tusd, pkg/handler/error.go (2026-07).
enum TusError {
  /// Empty for other bodies.
  static func code(_ reply: TransferReply) -> String {
    let text = reply.body.prefix(64).prefix { (0x41...0x5A).contains($0) || $0 == 0x5F }
    return text.starts(with: "ERR_".utf8) ? String(decoding: text, as: UTF8.self) : ""
  }

  /// One line for people; a page is no detail.
  static func text(_ reply: TransferReply) -> String {
    guard !reply.isWebPage, !code(reply).isEmpty else { return "" }
    return String(decoding: reply.body.prefix(300).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
  }

  /// The upload as a whole is too large, and not one body.
  static func isSize(_ code: String) -> Bool { code == "ERR_MAX_SIZE_EXCEEDED" || code == "ERR_UPLOAD_SIZE_EXCEEDED" }

  /// One of the uploads that are to be joined is not there, or not whole.
  static func isAboutParts(_ reply: TransferReply) -> Bool {
    ["ERR_UPLOAD_NOT_FINISHED", "ERR_INVALID_CONCAT"].contains(code(reply))
  }

  /// A request that another one (a probe of ours, too) told to stop, or whose body broke off: what was stored is kept.
  static func passes(_ reply: TransferReply) -> Bool {
    switch code(reply) {
    case "ERR_UPLOAD_INTERRUPTED", "ERR_UNEXPECTED_EOF", "ERR_UPLOAD_NOT_FINISHED": true
    // tus-node-server.
    default: reply.body.starts(with: "Request aborted due to lock".utf8)
    }
  }
}
