import TransferModel

/// A multipart/form-data body with at most one file: the fields before the file are kept, the file is passed on as it
/// arrives. Used by the thread of the connection.
final class FormBody {
  private static let fieldLimit = 64 << 10
  private static let fieldsLimit = 1 << 20

  private var reader: MultipartReader
  private var fields: [String: [UInt8]] = [:]
  private var fieldBytes = 0
  private var current: MultipartPart?
  private var value: [UInt8] = []
  /// The part with the file, once it has begun.
  private(set) var file: MultipartPart?
  private(set) var fileSize: Int64 = 0
  /// The size of the file if only the closing delimiter follows it; nil when the body's length is unknown.
  private(set) var expectedSize: Int64?
  private let closingLength: Int64

  /// Refuses with 415 a body that is not a form.
  init(_ exchange: Exchange) throws(ExchangeEnd) {
    guard let boundary = MultipartReader.boundary(exchange.head["content-type"]) else {
      throw .refuse(415, "Content-Type has to be multipart/form-data with a boundary")
    }
    reader = MultipartReader(boundary: boundary)
    closingLength = Int64(boundary.count) + 8
  }

  static func isForm(_ exchange: Exchange) -> Bool {
    MultipartReader.boundary(exchange.head["content-type"]) != nil
  }

  func bytes(_ name: String) -> [UInt8]? { fields[name] }

  subscript(name: String) -> String? { fields[name].map { String(decoding: $0, as: UTF8.self) } }

  /// Reads the whole body. `begin` runs when the file begins, and returns the offset of its first byte in the object;
  /// `consume` gets its bytes. Records the file's bytes, complete or not; refuses with 400 a form without a file.
  func receive(
    _ exchange: Exchange, begin: @escaping (FormBody) throws(ExchangeEnd) -> Int64,
    _ consume: @escaping BodyConsumer, checksum: () -> UInt32?
  ) throws(ExchangeEnd) {
    var (offset, end) = (Int64(0), ExchangeEnd?.none)
    do throws(ExchangeEnd) {
      try exchange.pump { [self] bytes throws(ExchangeEnd) in
        try reader.take(bytes) { event throws(ExchangeEnd) in
          switch event {
          case .part(let part, let at):
            if try start(part) {
              if case .length(let length) = exchange.head.framing { expectedSize = max(0, length - at - closingLength) }
              offset = try begin(self)
            }
          case .bytes(let bytes): try take(bytes, consume)
          case .partEnd: finishPart()
          }
        }
      }
      if !reader.isFinished { throw ExchangeEnd.refuse(400, "the multipart body ends in the middle of a part") }
    } catch {
      end = error
    }
    if file != nil {
      try exchange.note(.bytes(ByteRange(offset: offset, length: fileSize), crc32c: checksum()))
    }
    if let end { throw end }
    if file == nil { throw .refuse(400, "the form contains no file") }
  }

  /// True when the file begins.
  private func start(_ part: MultipartPart) throws(ExchangeEnd) -> Bool {
    current = part
    value = []
    guard part.fileName != nil else { return false }
    if file != nil { throw .refuse(400, "the form contains more than one file") }
    file = part
    return true
  }

  private func take(
    _ bytes: UnsafeRawBufferPointer, _ consume: BodyConsumer
  ) throws(ExchangeEnd) {
    if current?.fileName != nil {
      try consume(bytes)
      fileSize += Int64(bytes.count)
    } else {
      fieldBytes += bytes.count
      if value.count + bytes.count > Self.fieldLimit || fieldBytes > Self.fieldsLimit {
        throw .refuse(413, "a field of the form is longer than 64 KiB, or all of them than 1 MiB")
      }
      value += bytes
    }
  }

  private func finishPart() {
    if let current, current.fileName == nil, file == nil { fields[current.name] = value }
    current = nil
  }
}
