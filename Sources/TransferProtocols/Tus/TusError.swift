import TransferModel

/// The body of an error answer of tusd: `ERR_CODE: text`.
/// Source: tusd, pkg/handler/error.go (2026-07).
enum TusError {
  /// Empty for other bodies.
  static func code(_ reply: TransferReply) -> String {
    let text = reply.body.prefix(64).prefix { (0x41...0x5A).contains($0) || $0 == 0x5F }
    return text.starts(with: "ERR_".utf8) ? String(decoding: text, as: UTF8.self) : ""
  }

  /// One line for people; a web page is not shown.
  static func text(_ reply: TransferReply) -> String {
    guard !reply.isWebPage, !code(reply).isEmpty else { return "" }
    return String(decoding: reply.body.prefix(300).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
  }

  /// The upload as a whole is too large, not only one body.
  static func isSize(_ code: String) -> Bool { code == "ERR_MAX_SIZE_EXCEEDED" || code == "ERR_UPLOAD_SIZE_EXCEEDED" }

  /// One of the uploads to be joined is missing or incomplete.
  static func isAboutParts(_ reply: TransferReply) -> Bool {
    ["ERR_UPLOAD_NOT_FINISHED", "ERR_INVALID_CONCAT"].contains(code(reply))
  }

  /// A request that another one (such as a probe of ours) stopped, or whose body was interrupted: the stored bytes are
  /// kept.
  static func passes(_ reply: TransferReply) -> Bool {
    switch code(reply) {
    case "ERR_UPLOAD_INTERRUPTED", "ERR_UNEXPECTED_EOF", "ERR_UPLOAD_NOT_FINISHED": true
    // tus-node-server.
    default: reply.body.starts(with: "Request aborted due to lock".utf8)
    }
  }
}
