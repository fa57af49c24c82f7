import TransferModel

/// `application/problem+json` (RFC 9457): a server's description of an error. Members of the wrong type are ignored.
struct ProblemDetails: Sendable, Hashable {
  var type = "about:blank"
  var title = ""
  var detail = ""

  /// nil for other bodies.
  init?(_ reply: TransferReply) {
    guard reply.field("content-type")?.lowercased().hasPrefix("application/problem+json") == true,
      let document = try? JSONReader.read(reply.body), case .object = document
    else { return nil }
    if case .string(let text)? = document["type"] { type = text }
    if case .string(let text)? = document["title"] { title = text }
    if case .string(let text)? = document["detail"] { detail = text }
  }

  /// One line for people.
  var text: String { [title, detail].filter { !$0.isEmpty }.joined(separator: ": ") }

  static func text(_ reply: TransferReply) -> String { ProblemDetails(reply)?.text ?? "" }

  /// Source: draft-ietf-httpbis-resumable-upload-05 section 5.3; newer drafts have no such type.
  var isCompleted: Bool { type.hasSuffix("#completed-upload") }

  /// The received bytes do not match the digest that was sent with them.
  var isDigestMismatch: Bool {
    let words = (type + " " + title).lowercased()
    return words.contains("digest") && words.contains("mismatch")
  }
}
