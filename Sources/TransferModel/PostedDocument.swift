import HTTPTypes

/// A POST of a small JSON document, for collectors and webhooks.
extension TransferRequest {
  /// `fields` are further header fields; nil if one is invalid.
  package static func post(_ url: String, json: [UInt8], fields: [(name: String, value: String)]) -> TransferRequest? {
    var all = HTTPFields()
    all[.contentType] = "application/json"
    for field in fields {
      guard let name = HTTPField.Name(field.name) else { return nil }
      all[name] = field.value
    }
    return TransferRequest(method: .post, url: url, fields: all, body: .bytes(json))
  }
}

extension TransferReply {
  /// The wait requested by the server, in milliseconds.
  package func retryAfterMs(wallMs: Int64) -> Int64? { RetryAfter.milliseconds(fields, wallMs: wallMs) }
}
