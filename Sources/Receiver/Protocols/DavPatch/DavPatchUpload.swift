import TransferModel

/// A temporary object: it is created empty, accepts bytes at any offset, and becomes an object when it is moved to its
/// name. Mutable state is used under ``lock``.
final class DavPatchUpload: UploadSession, @unchecked Sendable {
  let protocolName = "davpatch"
  let id: String
  let path: ObjectPath
  let expiresAtMs = wallMilliseconds() + 86_400_000
  let lock = UploadLock()
  private(set) var length: Int64 = 0
  /// Whether it was moved or deleted while a request waited for the lock.
  private(set) var isEnded = false
  /// The checksum of all bytes; nil when it has to be computed from them.
  private var known: UInt32? = 0
  /// nil when bodies are discarded.
  private var staged: StagedObject?

  /// The largest gap between the end and the start of a range; it is filled with zeros.
  static let widestGap: Int64 = 64 << 20

  init(_ core: ReceiverCore, _ path: ObjectPath) throws(ExchangeEnd) {
    self.path = path
    id = path.encoded
    if let store = core.store { staged = try StagedObject(store) }
  }

  /// The name in the record: no object has such a path.
  var recordedPath: NameBytes { NameBytes(Array("-/davpatch/".utf8) + path.bytes.bytes) }

  /// Writes the body of the request at `start`. Bytes received before an interruption are kept, and are on the disk
  /// even if this throws.
  func patch(_ exchange: Exchange, at start: Int64) throws(ExchangeEnd) {
    var (at, piece, end) = (start, CRC32C(), ExchangeEnd?.none)
    do throws(ExchangeEnd) {
      let consume: BodyConsumer = { [staged] bytes throws(ExchangeEnd) in
        try staged?.write(bytes, at: at)
        piece.add(bytes)
        at += Int64(bytes.count)
      }
      try exchange.receive(at: start, consume, checksum: { piece.value })
    } catch {
      end = error
    }
    try keep(ByteRange(offset: start, length: at - start), piece.value)
    if let end { throw end }
  }

  private func keep(_ range: ByteRange, _ crc32c: UInt32) throws(ExchangeEnd) {
    guard range.length > 0 else { return }
    try staged?.flush()
    let isAppended = range.offset == length
    known = isAppended ? known.map { CRC32C.combined($0, crc32c, lengthB: range.length) } : nil
    length = max(length, range.end)
  }

  /// Forgets all bytes, as an empty PUT does.
  func empty() throws(ExchangeEnd) {
    try staged?.truncate(to: 0)
    (length, known) = (0, 0)
  }

  /// Loses the last `count` bytes, by a scripted fault.
  func regress(by count: Int64) throws(ExchangeEnd) {
    length = max(0, length - count)
    try staged?.truncate(to: length)
    known = length == 0 ? 0 : nil
  }

  /// The checksum of all bytes, read again if they did not arrive in order; nil when they were not kept.
  func crc32c() throws(ExchangeEnd) -> UInt32? {
    if known == nil { known = try staged?.checksum(of: ByteRange(offset: 0, length: length)) }
    return known
  }

  func etag() throws(ExchangeEnd) -> String? { try crc32c().map { objectETag(crc32c: $0, size: length) } }

  /// Makes the bytes an object, durable on return. True when the name was free.
  func publish(
    _ exchange: Exchange, at path: ObjectPath, _ condition: StagedObject.Condition
  ) throws(ExchangeEnd) -> Bool {
    let created = try exchange.publish(staged, at: path, condition, size: length, crc32c: try crc32c())
    (staged, isEnded) = (nil, true)
    return created
  }

  /// Removes the bytes from the disk.
  func discard() { (staged, isEnded) = (nil, true) }
}

/// The offset of a PATCH body. Source: sabre.io/dav/http-patch.
enum UpdateRange {
  /// The offset of a body of `length` bytes in an object of `size` bytes, as `X-Update-Range` gives it. A malformed
  /// range is refused with 400; one that does not match the body, or starts too far past the end, with 416.
  static func start(_ field: String, length: Int64, size: Int64) throws(ExchangeEnd) -> Int64 {
    let text = field.lowercased()
    if text == "append" { return size }
    guard text.hasPrefix("bytes=") else { throw malformed }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      ends.contains(where: { !$0.isEmpty })
    else { throw malformed }
    let numbers = ends.map { wholeNumber($0) }
    guard numbers[0] != nil || ends[0].isEmpty, numbers[1] != nil || ends[1].isEmpty else {
      throw .refuse(416, "the range has numbers of more than 18 digits")
    }
    guard let first = numbers[0] else { return try beforeEnd(numbers[1] ?? 0, size: size) }
    if let last = numbers[1], last < first || last - first != length - 1 {
      throw .refuse(416, "the range is not as long as the body of \(length) bytes")
    }
    guard first - size <= DavPatchUpload.widestGap else {
      throw .refuse(416, "the range begins more than 64 MiB past the end")
    }
    return first
  }

  private static func beforeEnd(_ count: Int64, size: Int64) throws(ExchangeEnd) -> Int64 {
    guard count <= size else { throw .refuse(416, "the range begins before the object") }
    return size - count
  }

  private static var malformed: ExchangeEnd {
    .refuse(400, "X-Update-Range is bytes=FIRST-LAST, bytes=FIRST-, bytes=-COUNT or append")
  }
}
