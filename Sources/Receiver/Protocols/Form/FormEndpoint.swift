import TransferModel

/// multipart/form-data in one request: `POST /-/form/`. The object's name is the field `key`, if it precedes the file,
/// otherwise the file's own name. Source: RFC 7578.
struct FormEndpoint: Endpoint {
  static let names = ["form"]

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    guard target.words.allSatisfy(\.isEmpty) else { throw .refuse(404, "forms go to /-/form/") }
    guard exchange.head.method == "POST" else {
      throw .refuse(405, "a form is sent with POST", fields: [Answer.Field("Allow", "POST")])
    }
    let form = try FormBody(exchange)
    let staged = try exchange.core.store.map { store throws(ExchangeEnd) in try StagedObject(store) }
    var (path, crc) = (ObjectPath.root, CRC32C())
    try exchange.invite()
    try form.receive(
      exchange,
      begin: { form throws(ExchangeEnd) in
        path = try ObjectPath(name: form.bytes("key") ?? form.file?.fileName ?? [])
        exchange.recordedPath = path.bytes
        return 0
      },
      { bytes throws(ExchangeEnd) in
        crc.add(bytes)
        try staged?.append(bytes)
      }, checksum: { crc.value })
    _ = try exchange.publish(staged, at: path, .replace, size: form.fileSize, crc32c: crc.value)
    return Answer(201, json: exchange.receipt(path, size: form.fileSize, crc32c: crc.value))
  }
}
