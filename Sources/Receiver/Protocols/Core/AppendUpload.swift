import TransferModel

/// A body that grows at its end over several requests. Used only by the request that holds ``lock``.
final class AppendUpload: @unchecked Sendable {
  /// The part of an interrupted body that is kept.
  enum Keeping {
    case prefix
    /// The longest prefix that makes the offset a multiple of this.
    case multiple(of: Int64)
    case nothing
  }

  let lock = UploadLock()
  /// The number of stored bytes; they are on the disk.
  private(set) var offset: Int64 = 0
  /// The number of stored bytes that a scripted fault hides: the server reports their end as offset 0.
  private var forgotten: Int64 = 0
  /// The offset that the server reports.
  var shown: Int64 { offset - forgotten }
  /// The checksum of the bytes before `offset`; nil when they were not kept and cannot be read again.
  private(set) var crc32c: UInt32? = 0
  /// nil when bodies are discarded, and once the object is published.
  private var staged: StagedObject?
  private var isDiscarded = false

  init(_ core: ReceiverCore) throws(ExchangeEnd) {
    if let store = core.store { staged = try StagedObject(store) }
  }

  /// Appends the body of the request, or of its file if it is a `form`, at most up to the offset `limit`. The bytes
  /// that ``offset`` counts are on the disk on return, even if this throws. A body with a `check` counts as a whole or
  /// not at all. The first `known` bytes of the body are stored already and are skipped.
  func append(
    _ exchange: Exchange, form: FormBody? = nil, upTo limit: Int64, keeping: Keeping, check: BodyCheck? = nil,
    progress: Progress? = nil, known: Int64 = 0
  ) throws(ExchangeEnd) {
    let start = offset
    let (sum, isUnbounded) = limit.addingReportingOverflow(forgotten)
    let limit = isUnbounded ? .max : sum
    var (at, piece, whole, end) = (start, CRC32C(), CRC32C(), ExchangeEnd?.none)
    var passing = known
    do throws(ExchangeEnd) {
      let consume: BodyConsumer = { [staged, forgotten] body throws(ExchangeEnd) in
        if known > 0 { whole.add(body) }
        let passed = min(passing, Int64(body.count))
        passing -= passed
        let bytes = UnsafeRawBufferPointer(rebasing: body.dropFirst(Int(passed)))
        if Int64(bytes.count) > limit - at { throw .refuse(413, "the body goes beyond \(limit - forgotten) bytes") }
        try staged?.write(bytes, at: at)
        piece.add(bytes)
        check?.add(bytes)
        at += Int64(bytes.count)
        try progress?.reached(at, staged)
      }
      if let form {
        try form.receive(exchange, begin: { _ in start }, consume, checksum: { piece.value })
      } else {
        try exchange.receive(at: start - known, consume, checksum: { known > 0 ? whole.value : piece.value })
      }
      try check?.verify()
    } catch {
      end = error
    }
    let kept = end == nil ? at : check == nil ? keeping.kept(of: at, since: start) : start
    try keep(kept, of: at, piece.value)
    if let end { throw end }
  }

  private func keep(_ kept: Int64, of received: Int64, _ crc32cOfPiece: UInt32) throws(ExchangeEnd) {
    let added = ByteRange(offset: offset, length: kept - offset)
    if kept < received { try staged?.truncate(to: kept) }
    if added.length > 0 {
      try staged?.flush()
      let crc = kept == received ? crc32cOfPiece : try staged?.checksum(of: added)
      crc32c = crc32c.flatMap { before in crc.map { CRC32C.combined(before, $0, lengthB: added.length) } }
    }
    offset = kept
  }

  /// Forgets the last `count` bytes.
  func regress(by count: Int64) throws(ExchangeEnd) {
    let kept = max(0, offset - count)
    try staged?.truncate(to: kept)
    crc32c = kept == 0 ? 0 : try staged?.checksum(of: ByteRange(offset: 0, length: kept))
    offset = kept
  }

  /// From now on the server reports offset 0 but keeps the stored bytes.
  func forgetOffset() { forgotten = offset }

  /// Appends a copy of another upload, whose lock is also held.
  func append(copyOf other: AppendUpload) throws(ExchangeEnd) {
    if let staged, let source = other.staged {
      try staged.copy(ByteRange(offset: 0, length: other.offset), of: source, to: offset)
    }
    crc32c = crc32c.flatMap { before in
      other.crc32c.map { CRC32C.combined(before, $0, lengthB: other.offset) }
    }
    offset += other.offset
  }

  /// The digest of all bytes so far; nil when they were not kept.
  func digest(_ kind: RunningHash.Kind) throws(ExchangeEnd) -> [UInt8]? {
    guard let staged else { return nil }
    let hash = RunningHash(kind)
    try staged.read(ByteRange(offset: 0, length: offset)) { bytes throws(ExchangeEnd) in hash.add(bytes) }
    return hash.finish()
  }

  /// The QuickXorHash of all bytes so far; nil when they were not kept.
  func quickXor() throws(ExchangeEnd) -> [UInt8]? {
    guard let staged else { return nil }
    var register = QuickXorRegister()
    try staged.read(ByteRange(offset: 0, length: offset)) { bytes throws(ExchangeEnd) in register.add(bytes) }
    return register.bytes
  }

  /// Makes the bytes an object, durable on return. True when the name was free.
  func publish(
    _ exchange: Exchange, at path: ObjectPath, _ condition: StagedObject.Condition = .replace
  ) throws(ExchangeEnd) -> Bool {
    let created = try exchange.publish(staged, at: path, condition, size: offset, crc32c: crc32c)
    staged = nil
    return created
  }

  /// Removes the bytes from the disk; false when that was done before.
  @discardableResult
  func discard() -> Bool {
    defer { (staged, isDiscarded) = (nil, true) }
    return !isDiscarded
  }

  /// Reports after every `step` bytes how far a body has come; those bytes are then on the disk.
  struct Progress {
    let step: Int64
    let tell: (Int64) throws(ExchangeEnd) -> Void
    private let next: Box

    private final class Box {
      var value: Int64
      init(_ value: Int64) { self.value = value }
    }

    init(from offset: Int64, step: Int64, _ tell: @escaping (Int64) throws(ExchangeEnd) -> Void) {
      self.step = step
      self.tell = tell
      next = Box(offset + step)
    }

    fileprivate func reached(_ offset: Int64, _ staged: StagedObject?) throws(ExchangeEnd) {
      guard offset >= next.value else { return }
      next.value = offset + step
      try staged?.flush()
      try tell(offset)
    }
  }
}

extension AppendUpload.Keeping {
  fileprivate func kept(of received: Int64, since start: Int64) -> Int64 {
    switch self {
    case .prefix: received
    case .multiple(let unit): max(start, received - received % unit)
    case .nothing: start
    }
  }
}

/// The digest and length that a body must have, checked as it comes in.
final class BodyCheck {
  private let hash: RunningHash?
  private let digest: [UInt8]
  private let length: Int64?
  private let refusal: ExchangeEnd
  private var received: Int64 = 0

  /// `refusal` is thrown when the digest, or the length if one is given, differs.
  init(_ expected: (kind: RunningHash.Kind, digest: [UInt8])?, length: Int64? = nil, refusal: ExchangeEnd) {
    hash = expected.map { RunningHash($0.kind) }
    digest = expected?.digest ?? []
    self.length = length
    self.refusal = refusal
  }

  func add(_ bytes: UnsafeRawBufferPointer) {
    hash?.add(bytes)
    received += Int64(bytes.count)
  }

  func verify() throws(ExchangeEnd) {
    if let length, length != received { throw refusal }
    if let hash, hash.finish() != digest { throw refusal }
  }
}
