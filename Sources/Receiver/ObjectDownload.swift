import TransferModel

/// The answer to GET or HEAD of a whole object or one range.
struct ObjectDownload {
  let exchange: Exchange
  let object: StoredObject

  private var parts: ObjectParts { ObjectParts(exchange: exchange, object: object) }

  /// Source: RFC 9110 sections 13.2.2 (order of the conditions) and 14.2.
  func answer() throws(ExchangeEnd) -> Answer {
    let (head, effect) = (exchange.head, exchange.effect)
    if let match = head["if-match"], match != "*", effect.isETagWeak || !lists(match, parts.etag) {
      throw .refuse(412, "If-Match failed")
    }
    if isKnown, !effect.ignoresCondition { return Answer(304, fields: fields) }
    if let answer = try parts.answer() { return answer }
    let whole = ByteRange(offset: 0, length: object.size)
    switch rangeWanted {
    case .whole:
      var answer = answer(200, whole)
      answer.fields += try parts.compositeFields()
      return answer
    case .part(let range):
      let earlier = min(effect.earlier, range.offset)
      return answer(206, ByteRange(offset: range.offset - earlier, length: range.length + earlier))
    case .unsatisfiable:
      throw .refuse(
        416, "the range lies past the end", fields: [Answer.Field("Content-Range", "bytes */\(object.size)")])
    }
  }

  /// Whether the client has this version: If-None-Match names it, or that field is absent and the object was not
  /// modified since If-Modified-Since (RFC 9110 sections 13.1.2 and 13.1.3).
  private var isKnown: Bool {
    if let none = exchange.head["if-none-match"] { return lists(none, parts.etag) || lists(none, "W/\(parts.etag)") }
    guard let since = exchange.head["if-modified-since"].flatMap({ HTTPDate.parse($0, wallMs: wallMilliseconds()) })
    else {
      return false
    }
    return object.modifiedSeconds * 1_000 <= since
  }

  func answer(_ status: Int, _ range: ByteRange) -> Answer {
    var answer = Answer(status, fields: fields)
    if status == 206 {
      answer.fields.append(
        Answer.Field(
          "Content-Range", exchange.effect.contentRange ?? "bytes \(range.offset)-\(range.end - 1)/\(object.size)"))
    }
    answer.file = Answer.FileBody(
      descriptor: object.descriptor, range: range, mask: object.mask, wrongByte: exchange.effect.wrongByte)
    return answer
  }

  private var fields: [Answer.Field] {
    [
      Answer.Field("Content-Type", "application/octet-stream"), Answer.Field("Accept-Ranges", "bytes"),
      Answer.Field("ETag", fieldETag),
      Answer.Field("Repr-Digest", reprDigest(exchange.effect.ending == .wrongDigest ? ~object.crc32c : object.crc32c)),
      Answer.Field("Last-Modified", httpDate(object.modifiedSeconds)),
    ]
  }

  private var fieldETag: String { exchange.effect.isETagWeak ? "W/\(parts.etag)" : parts.etag }

  private var rangeWanted: RangeWanted {
    guard exchange.head.method == "GET", !exchange.effect.ignoresRange, let field = exchange.head["range"] else {
      return .whole
    }
    if let condition = exchange.head["if-range"], !isSame(condition) { return .whole }
    return RangeWanted(field, size: object.size)
  }

  /// Whether If-Range names this object. Only strong validators match, and a date is strong when the object was
  /// modified at least a second ago. Source: RFC 9110 sections 8.8.2.2 and 13.1.5.
  private func isSame(_ condition: String) -> Bool {
    if condition.hasSuffix("\"") { return !exchange.effect.isETagWeak && condition == parts.etag }
    return condition == httpDate(object.modifiedSeconds) && object.modifiedSeconds < wallMilliseconds() / 1000
  }

  private func lists(_ field: String, _ etag: String) -> Bool {
    field == "*" || field.split(separator: ",").contains { $0.drop { $0 == " " } == etag }
  }
}
