import TransferModel

/// Receives one numbered chunk, as the raw body or as the file of a form.
struct ChunkReceiver {
  let exchange: Exchange
  /// The protocol, for IDs and the record.
  let name: String
  /// A chunk of a merged upload starts a new upload, which is necessary where IDs are derived from names; otherwise it
  /// is refused with 409.
  var startsAnew = false

  typealias Parameters = ((String) -> String?) throws(ExchangeEnd) -> Chunk

  /// Stores the chunk; durable on return. `parameters` makes the chunk from the fields that `lookup` knows and the form
  /// fields before its file. `prepare` may name the object, or answer immediately for a complete upload.
  func receive(
    lookup: @escaping (String) -> String?, _ parameters: @escaping Parameters,
    prepare: @escaping (ChunkUpload, FormBody?) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> (upload: ChunkUpload, part: PartUpload.Part, chunk: Chunk) {
    guard case .length(let length) = exchange.head.framing else { throw .refuse(411, "a chunk needs Content-Length") }
    var open: Opened?
    let consume: BodyConsumer = { bytes throws(ExchangeEnd) in try open?.slot.write(bytes) }
    try exchange.invite()
    if FormBody.isForm(exchange) {
      let begin: (FormBody) throws(ExchangeEnd) -> Int64 = { form throws(ExchangeEnd) in
        let chunk = try parameters { form[$0] ?? lookup($0) }
        open = try self.open(chunk, size: form.expectedSize ?? 0, form, prepare)
        return open!.offset
      }
      try FormBody(exchange).receive(exchange, begin: begin, consume, checksum: { open?.slot.crc32c })
    } else {
      let opened = try self.open(try parameters(lookup), size: length, nil, prepare)
      open = opened
      try exchange.receive(at: opened.offset, consume, checksum: { opened.slot.crc32c })
    }
    return (open!.upload, try open!.slot.finish(), open!.chunk)
  }

  private struct Opened {
    var upload: ChunkUpload
    var chunk: Chunk
    var slot: PartSlot
    var offset: Int64
  }

  private func open(
    _ chunk: Chunk, size: Int64, _ form: FormBody?, _ prepare: (ChunkUpload, FormBody?) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> Opened {
    let place = try chunk.place(size: size)
    guard let upload = try ChunkUpload.of(chunk, name, startsAnew: startsAnew, exchange) else {
      throw .refuse(404, "the upload is not known")
    }
    guard upload.count == chunk.count, upload.size == chunk.totalSize else {
      throw .refuse(409, "the upload has \(upload.count) chunks and \(upload.size) bytes")
    }
    exchange.recordedPath = ChunkUpload.path(name, chunk.id)
    try prepare(upload, form)
    guard let slot = upload.parts.slot(chunk.index, preferred: place, size: size) else {
      throw .refuse(409, "the upload is merged")
    }
    return Opened(upload: upload, chunk: chunk, slot: slot, offset: place)
  }
}
