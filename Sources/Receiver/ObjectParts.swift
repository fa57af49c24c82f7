import Glibc
import TransferModel

/// An object that a script may declare to be uploaded in parts, for clients of S3.
struct ObjectParts {
  let exchange: Exchange
  let object: StoredObject

  /// In the form that S3 uses for such an object: it ends with the number of parts.
  var etag: String {
    count.map { "\"\(CRC32C.text(object.crc32c))-\($0)\"" } ?? object.etag
  }

  private var count: Int64? {
    exchange.effect.parts.flatMap { object.size > $0 ? (object.size - 1) / $0 + 1 : nil }
  }

  private func part(_ number: Int64, _ length: Int64) -> ByteRange {
    let offset = (number - 1) * length
    return ByteRange(offset: offset, length: min(length, object.size - offset))
  }

  /// The answer to a question about the parts of an object: `HEAD ?partNumber=N`, and `GET ?attributes`, which lists
  /// them with their CRC32C; nil for other requests. Sources: "HeadObject" and "GetObjectAttributes", Amazon S3 API
  /// Reference.
  func answer() throws(ExchangeEnd) -> Answer? {
    guard let length = exchange.effect.parts, let count, !exchange.head.query.isEmpty else { return nil }
    let query = try Query(exchange.head.query)
    if exchange.head.method == "GET", query.has("attributes") { return try list(length, count) }
    guard exchange.head.method == "HEAD", let number = try query.number("partNumber") else { return nil }
    guard (1...count).contains(number) else { throw .refuse(416, "the object does not have that many parts") }
    var answer = ObjectDownload(exchange: exchange, object: object).answer(206, part(number, length))
    answer.fields.append(Answer.Field("x-amz-mp-parts-count", String(count)))
    return answer
  }

  /// The checksum of the checksums of the parts, which S3 calls composite, for a HEAD that asks for it.
  func compositeFields() throws(ExchangeEnd) -> [Answer.Field] {
    guard exchange.head.method == "HEAD", exchange.head["x-amz-checksum-mode"] == "ENABLED",
      let length = exchange.effect.parts,
      let count
    else { return [] }
    var all: [UInt8] = []
    for number in 1...count {
      all += CRC32C.bigEndianBytes(try ChecksumCache.compute(object, part(number, length)))
    }
    let sum = CRC32C.of(all) ^ (exchange.effect.ending == .wrongDigest ? 1 : 0)
    return [
      Answer.Field("x-amz-checksum-type", "COMPOSITE"),
      Answer.Field("x-amz-checksum-crc32c", "\(base64(CRC32C.bigEndianBytes(sum)))-\(count)"),
    ]
  }

  private func list(_ length: Int64, _ count: Int64) throws(ExchangeEnd) -> Answer {
    let after = wholeNumber(exchange.head["x-amz-part-number-marker"] ?? "0") ?? 0
    let most = wholeNumber(exchange.head["x-amz-max-parts"] ?? "1000") ?? 1_000
    var xml = "<?xml version=\"1.0\"?><GetObjectAttributesResponse xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    xml += "<ETag>\(etag.dropFirst().dropLast())</ETag><ObjectParts><PartsCount>\(count)</PartsCount>"
    for number in (after + 1)..<max(after + 1, min(count, after + most) + 1) {
      let range = part(number, length)
      let sum = base64(CRC32C.bigEndianBytes(try ChecksumCache.compute(object, range)))
      xml += "<Part><PartNumber>\(number)</PartNumber><Size>\(range.length)</Size>"
      xml += "<ChecksumCRC32C>\(sum)</ChecksumCRC32C></Part>"
    }
    xml += "<IsTruncated>\(after + most < count)</IsTruncated></ObjectParts></GetObjectAttributesResponse>"
    var answer = Answer(200, fields: [Answer.Field("Content-Type", "application/xml")])
    answer.body = Array(xml.utf8)
    return answer
  }
}

extension ChecksumCache {
  /// The checksum of a range of the object.
  fileprivate static func compute(_ object: StoredObject, _ range: ByteRange) throws(ExchangeEnd) -> UInt32 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var crc = CRC32C()
    var offset = range.offset
    while offset < range.end {
      let wanted = min(buffer.count, Int(range.end - offset))
      let count = pread(object.descriptor.number, buffer.baseAddress!, wanted, off_t(offset))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .systemError(errno, "read object") }
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      applyMask(object.mask, to: piece)
      crc.add(UnsafeRawBufferPointer(piece))
      offset += Int64(count)
    }
    return crc.value
  }
}
