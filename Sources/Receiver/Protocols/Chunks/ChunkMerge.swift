import TransferModel

/// Merges the numbered chunks of an upload into an object.
struct ChunkMerge {
  let exchange: Exchange
  /// The protocol, for IDs and the record.
  let name: String

  /// A merge call. With `?merge=idempotent` a repeated call gets the same answer, otherwise 409; with
  /// `?merge=slow,SECONDS` the answer is 202 for that long.
  func merge(
    _ id: String, at path: ObjectPath, _ query: Query, isAsAnnounced: (ChunkUpload) -> Bool, base: Int64
  ) throws(ExchangeEnd) -> Answer {
    let upload = try known(id)
    return try exchange.holding(upload.merging, busy: Answer(423)) { () throws(ExchangeEnd) in
      if let merged = upload.merged {
        guard merged.isIdempotent else { throw .refuse(Answer(409, json: ["error": "the upload is already merged"])) }
        return answer(merged)
      }
      guard upload.isComplete, isAsAnnounced(upload) else { throw .refuse(incomplete(upload, base)) }
      let words = (query["merge"] ?? "").split(separator: ",")
      let seconds = words.first == "slow" ? words.dropFirst().first.flatMap { wholeNumber($0) } ?? 1 : 0
      let ready = wallMilliseconds() + min(seconds, 86_400) * 1000
      let isIdempotent = words.contains("idempotent")
      guard let merged = try join(upload, at: path, readyAtMs: ready, isIdempotent: isIdempotent) else {
        throw .refuse(Answer(409, json: ["error": "a chunk is being received"]))
      }
      return answer(merged)
    }
  }

  /// The upload with an ID that the client chose; 404 when it does not exist.
  func known(_ id: String) throws(ExchangeEnd) -> ChunkUpload {
    exchange.recordedPath = ChunkUpload.path(name, id)
    guard let upload = try exchange.session(ChunkUpload.key(name, id), ChunkUpload.self) else {
      throw .refuse(Answer(404, json: ["error": "the upload is not known"]))
    }
    return upload
  }

  func answer(_ merged: ChunkUpload.Merged) -> Answer {
    guard wallMilliseconds() >= merged.readyAtMs else {
      return Answer(202, json: ["state": "merging"], fields: [Answer.Field("Retry-After", "1")])
    }
    return Answer(200, json: exchange.receipt(merged.path, size: merged.size, crc32c: merged.crc32c))
  }

  private func incomplete(_ upload: ChunkUpload, _ base: Int64) -> Answer {
    let missing = upload.missing(upTo: 100).map { JSON.number($0 + base) }
    return Answer(409, json: ["error": "chunks are missing, or count or size is wrong", "missing": .array(missing)])
  }

  /// Joins the chunks of a complete upload under a name; nil while one is being received. Records that the bytes
  /// recorded under the upload's own path are now in that object.
  func join(
    _ upload: ChunkUpload, at path: ObjectPath, readyAtMs: Int64 = 0, isIdempotent: Bool = true
  ) throws(ExchangeEnd) -> ChunkUpload.Merged? {
    let from = exchange.recordedPath
    guard let published = try upload.parts.publish(exchange, Array(0..<upload.count), at: path) else { return nil }
    if from != path.bytes {
      try exchange.note(.joined(from: from, ByteRange(offset: 0, length: published.size)), of: path)
    }
    let merged = ChunkUpload.Merged(
      path: path, size: published.size, crc32c: published.crc32c, readyAtMs: readyAtMs, isIdempotent: isIdempotent)
    upload.merged = merged
    try exchange.end(upload, .completed)
    return merged
  }
}
