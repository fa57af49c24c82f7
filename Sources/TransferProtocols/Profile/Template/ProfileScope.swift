import TransferModel

/// The values of the template variables for one request.
struct ProfileScope: Sendable {
  var file: [String: TemplateValue] = [:]
  /// nil in steps about the whole file.
  var chunk: [String: TemplateValue]?
  var session: [String: TemplateValue] = [:]
  /// Values from the server about this chunk.
  var part: [String: TemplateValue] = [:]
  /// One record per chunk, in order.
  var parts: [[String: TemplateValue]] = []
  /// The folder to be created; nil in other steps.
  var parent: [String: TemplateValue]?
  /// The number of chunks of the file.
  var chunkCount: Int?
  /// The current element of an `$each`.
  var item: TemplateValue?
  var result: [String: TemplateValue] = [:]
  /// Values fetched by `auth.refresh`.
  var secret: [String: TemplateValue] = [:]
  var input: [String: TemplateValue] = [:]
  /// The query that is added to every relative URL.
  var query = ""
  /// Milliseconds since 1970 UTC.
  var nowMs: Int64 = 0
  var uuid = ""
  /// Counted from 1.
  var attempt = 1

  /// The value of a root name; whether the name may be used there was checked when the profile was parsed.
  func root(_ name: String) -> TemplateValue {
    switch name {
    case "file": .record(file)
    case "chunk": chunk.map { .record($0) } ?? .missing(name)
    case "parent": parent.map { .record($0) } ?? .missing(name)
    case "session": .record(session)
    case "part": .record(part)
    case "parts": .list(parts.map { .record($0) })
    case "it": item ?? .missing(name)
    case "chunks": chunkCount.map { .int(Int64($0)) } ?? .missing(name)
    case "result": .record(result)
    case "secret": .record(secret)
    case "input": .record(input)
    case "now": .time(nowMs)
    case "uuid": .string(uuid)
    case "attempt": .int(Int64(attempt))
    default: .missing(name)
    }
  }
}

extension ProfileScope {
  /// The variables of a file. `path` is relative to the given source; `mtimeMs` counts from 1970 UTC.
  static func file(path: NameBytes, size: Int64, mtimeMs: Int64, hashes: [String: Digest] = [:]) -> [String:
    TemplateValue]
  {
    let name = path.lastComponent.bytes
    var fields: [String: TemplateValue] = [
      "name": .text(name), "path": .text(path.bytes), "ext": .text(FileName(name).ext), "size": .int(size),
      "mtime": .time(mtimeMs), "mime": .string(MediaType.of(name)),
    ]
    for (algorithm, digest) in hashes { fields[algorithm] = .digest(digest.bytes) }
    return fields
  }

  /// `0-99`, both ends inclusive, and `*` for no bytes, as in `Content-Range`.
  static func range(of range: ByteRange) -> TemplateValue {
    .string(range.length == 0 ? "*" : "\(range.offset)-\(range.end - 1)")
  }

  /// The variables of the chunk `seq` (from 0) of `layout`; `base` is the number of the first one.
  static func chunk(
    _ seq: Int, of layout: ChunkLayout, base: Int, hashes: [String: Digest] = [:]
  ) -> [String: TemplateValue] {
    let range = layout.range(seq)
    var fields: [String: TemplateValue] = [
      "index": .int(Int64(seq)), "number": .int(Int64(seq + base)), "count": .int(Int64(layout.count)),
      "start": .int(range.offset), "end": .int(range.end - 1), "end_exclusive": .int(range.end),
      "size": .int(range.length), "nominal_size": .int(layout.chunkSize), "last": .bool(seq == layout.count - 1),
      "first": .bool(seq == 0), "range": Self.range(of: range),
    ]
    for (algorithm, digest) in hashes { fields[algorithm] = .digest(digest.bytes) }
    return fields
  }
}
