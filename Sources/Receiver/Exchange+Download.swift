import TransferModel

/// GET and HEAD of a whole object or one range.
extension Exchange {
  /// Source: RFC 9110 sections 13.2.2 (order of the conditions) and 14.2.
  func get(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try drop()
    guard let store = core.store else { throw .refuse(404, "bodies are discarded here") }
    var object = try store.object(at: path)
    if let version = effect.version { object = try object.version(version) }
    if let match = head["if-match"], match != "*", effect.isETagWeak || !lists(match, etag(object)) {
      throw .refuse(412, "If-Match failed")
    }
    if isKnown(object), !effect.ignoresCondition { return Answer(304, fields: fields(object)) }
    if let parts = try partAnswer(object) { return parts }
    let whole = ByteRange(offset: 0, length: object.size)
    switch rangeWanted(object) {
    case .whole:
      var answer = answer(200, object, whole)
      answer.fields += try compositeFields(object)
      return answer
    case .part(let range):
      let earlier = min(effect.earlier, range.offset)
      return answer(206, object, ByteRange(offset: range.offset - earlier, length: range.length + earlier))
    case .unsatisfiable:
      throw .refuse(
        416, "the range lies past the end", fields: [Answer.Field("Content-Range", "bytes */\(object.size)")])
    }
  }

  /// Whether the client has this version: If-None-Match names it, or that field is absent and the object was not
  /// modified since If-Modified-Since (RFC 9110 sections 13.1.2 and 13.1.3).
  private func isKnown(_ object: StoredObject) -> Bool {
    if let none = head["if-none-match"] { return lists(none, etag(object)) || lists(none, "W/\(etag(object))") }
    guard let since = head["if-modified-since"].flatMap({ HTTPDate.parse($0, wallMs: wallMilliseconds()) }) else {
      return false
    }
    return object.modifiedSeconds * 1_000 <= since
  }

  func answer(_ status: Int, _ object: StoredObject, _ range: ByteRange) -> Answer {
    var answer = Answer(status, fields: fields(object))
    if status == 206 {
      answer.fields.append(
        Answer.Field(
          "Content-Range", effect.contentRange ?? "bytes \(range.offset)-\(range.end - 1)/\(object.size)"))
    }
    answer.file = Answer.FileBody(
      descriptor: object.descriptor, range: range, mask: object.mask, wrongByte: effect.wrongByte)
    return answer
  }

  /// The answer with the fields and the framing that the script sets.
  func shaped(_ answer: Answer) -> Answer {
    var answer = answer
    answer.fields.removeAll { effect.omitted.contains($0.name.lowercased()) }
    if let field = effect.field {
      answer.fields.removeAll { $0.name.lowercased() == field.name.lowercased() }
      answer.fields.append(field)
    }
    answer.framing = effect.framing == .chunked && head.isHTTP10 ? .close : effect.framing
    return answer
  }

  private func fields(_ object: StoredObject) -> [Answer.Field] {
    [
      Answer.Field("Content-Type", "application/octet-stream"), Answer.Field("Accept-Ranges", "bytes"),
      Answer.Field("ETag", fieldETag(object)),
      Answer.Field("Repr-Digest", reprDigest(effect.ending == .wrongDigest ? ~object.crc32c : object.crc32c)),
      Answer.Field("Last-Modified", httpDate(object.modifiedSeconds)),
    ]
  }

  private func fieldETag(_ object: StoredObject) -> String { effect.isETagWeak ? "W/\(etag(object))" : etag(object) }

  private func rangeWanted(_ object: StoredObject) -> RangeWanted {
    guard head.method == "GET", !effect.ignoresRange, let field = head["range"] else { return .whole }
    if let condition = head["if-range"], !isSame(condition, object) { return .whole }
    return RangeWanted(field, size: object.size)
  }

  /// Whether If-Range names this object. Only strong validators match, and a date is strong when the object was
  /// modified at least a second ago. Source: RFC 9110 sections 8.8.2.2 and 13.1.5.
  private func isSame(_ condition: String, _ object: StoredObject) -> Bool {
    if condition.hasSuffix("\"") { return !effect.isETagWeak && condition == etag(object) }
    return condition == httpDate(object.modifiedSeconds) && object.modifiedSeconds < wallMilliseconds() / 1000
  }

  private func lists(_ field: String, _ etag: String) -> Bool {
    field == "*" || field.split(separator: ",").contains { $0.drop { $0 == " " } == etag }
  }
}

/// The range that a Range field asks for. Several ranges, other units and malformed fields count as no field at all.
enum RangeWanted: Equatable {
  case whole
  case part(ByteRange)
  case unsatisfiable

  init(_ field: String, size: Int64) {
    guard field.hasPrefix("bytes="), !field.contains(",") else {
      self = .whole
      return
    }
    let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2 else {
      self = .whole
      return
    }
    self = Self.between(Self.number(ends[0]), Self.number(ends[1]), size)
  }

  /// The outer nil means malformed, the inner nil empty.
  private static func number(_ text: Substring) -> Int64?? {
    if text.isEmpty { return .some(nil) }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text) ?? .max
  }

  private static func between(_ first: Int64??, _ last: Int64??, _ size: Int64) -> RangeWanted {
    guard let first, let last else { return .whole }
    switch (first, last) {
    case (nil, nil): return .whole
    case (nil, let suffix?):
      let length = min(suffix, size)
      return length == 0 ? .unsatisfiable : .part(ByteRange(offset: size - length, length: length))
    case (let first?, let last):
      if let last, last < first { return .whole }
      if first >= size { return .unsatisfiable }
      return .part(ByteRange(offset: first, length: min(last ?? .max, size - 1) - first + 1))
    }
  }
}
