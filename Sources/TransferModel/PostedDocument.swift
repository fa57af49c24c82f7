import HTTPTypes

/// A small document that is posted, as programs that collect such things want it.
extension TransferRequest {
  /// Names and values of further fields; nil where one cannot be a field.
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
  /// What the server asks to wait, in milliseconds.
  package func retryAfterMs(wallMs: Int64) -> Int64? { RetryAfter.milliseconds(fields, wallMs: wallMs) }
}
