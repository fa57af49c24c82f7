import TransferModel

/// The protocol of Resumable.js and Flow.js: a test of each chunk with GET, chunks from number 1 as forms or raw
/// bodies, and no merge call: the last chunk completes the object. Source: the source code of both libraries.
struct BrowserChunksEndpoint: Endpoint {
  static let names = ["resumablejs", "flow"]

  let exchange: Exchange
  let target: EndpointTarget

  private var prefix: String { target.name == "flow" ? "flow" : "resumable" }

  private var receiver: ChunkReceiver { ChunkReceiver(exchange: exchange, name: target.name, startsAnew: true) }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    guard target.words.allSatisfy(\.isEmpty) else { throw .refuse(404, "chunks go to /-/\(target.name)") }
    switch exchange.head.method {
    case "GET": return try test()
    case "POST", "PUT", "PATCH": return try upload()
    default: throw .refuse(405, "test a chunk with GET and send it with POST")
    }
  }

  /// 200 for a chunk that is stored, 204 for one that is not.
  private func test() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let chunk = try chunk { target.query[$0] }
    exchange.recordedPath = ChunkUpload.path(target.name, chunk.id)
    let upload = try exchange.session(ChunkUpload.key(target.name, chunk.id), ChunkUpload.self)
    if exchange.core.uploads.isForgotten(ChunkUpload.key(target.name, chunk.id), ChunkUpload.self) {
      throw .refuse(404, "the upload is unknown")
    }
    if let count = exchange.effect.regress, upload?.merged == nil { upload?.parts.regress(by: count) }
    let isThere = upload?.merged != nil || upload?.parts.parts[chunk.index] != nil
    return Answer(isThere || exchange.effect.isOffsetPastEnd ? 200 : 204)
  }

  private func upload() throws(ExchangeEnd) -> Answer {
    let query = target.query
    var (found, name) = (ChunkUpload?.none, ObjectPath.root)
    do throws(ExchangeEnd) {
      _ = try receiver.receive(
        lookup: { query[$0] }, { value throws(ExchangeEnd) in try chunk(value) },
        prepare: { upload, form throws(ExchangeEnd) in
          name = try path(form)
          exchange.recordedPath = name.bytes
          found = upload
        })
    } catch {
      // This chunk may have been a duplicate, and the only request that kept the others from being joined.
      if let found { try joinIfComplete(found, name) }
      throw error
    }
    if let found { try joinIfComplete(found, name) }
    return Answer(200, text: "ok")
  }

  private func path(_ form: FormBody?) throws(ExchangeEnd) -> ObjectPath {
    let fields = ["RelativePath", "Filename"].map { prefix + $0 }
    let named = fields.lazy.compactMap { form?.bytes($0) ?? target.query.bytes($0) }.first { !$0.isEmpty }
    return try ObjectPath(name: named ?? form?.file?.fileName ?? [])
  }

  private func chunk(_ value: (String) -> String?) throws(ExchangeEnd) -> Chunk {
    let numbers = ["ChunkNumber", "TotalChunks", "TotalSize", "ChunkSize"].map { wholeNumber(value(prefix + $0) ?? "") }
    guard let id = value(prefix + "Identifier"), !id.isEmpty, let number = numbers[0], let count = numbers[1],
      let size = numbers[2], let nominal = numbers[3]
    else { throw .refuse(400, "a parameter of \(prefix) is missing or malformed") }
    return Chunk(id: id, index: number - 1, count: count, totalSize: size, nominalSize: nominal)
  }

  private func joinIfComplete(_ upload: ChunkUpload, _ path: ObjectPath) throws(ExchangeEnd) {
    guard upload.isComplete else { return }
    let merge = ChunkMerge(exchange: exchange, name: target.name)
    try exchange.holding(upload.merging, busy: Answer(503)) { () throws(ExchangeEnd) in
      if upload.merged == nil { _ = try merge.join(upload, at: path) }
    }
  }
}
