import TransferModel

/// Numbered chunks of one file under an id that the client chose.
final class ChunkUpload: UploadSession {
  /// The result of the merge.
  struct Merged: Sendable {
    var path: ObjectPath
    var size: Int64
    var crc32c: UInt32
    /// Milliseconds since 1970 UTC: until then, the merge is reported as running.
    var readyAtMs: Int64
    var isIdempotent: Bool
  }

  private static let lifeMs: Int64 = 86_400_000

  let protocolName: String
  /// The protocol's name and the client's ID, so that IDs of different protocols do not collide.
  let id: String
  let count: Int64
  let size: Int64
  let parts: PartUpload
  let merging = UploadLock()
  let expiresAtMs = wallMilliseconds() + ChunkUpload.lifeMs
  private let state = Lock<Merged?>(nil)

  private init(_ core: ReceiverCore, _ name: String, _ id: String, _ chunk: Chunk) throws(ExchangeEnd) {
    (protocolName, self.id, count, size) = (name, id, chunk.count, chunk.totalSize)
    parts = try PartUpload(core)
  }

  var merged: Merged? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  static func key(_ name: String, _ id: String) -> String { "\(name):\(id)" }

  /// The path under which an upload's bytes are recorded before its object has a name.
  static func path(_ name: String, _ id: String) -> NameBytes { NameBytes("-/\(name)/\(id)") }

  /// The upload that a chunk belongs to, created with its first chunk; nil when the script makes the receiver forget
  /// it. With `startsAnew` a chunk of a merged upload starts a new upload.
  static func of(
    _ chunk: Chunk, _ name: String, startsAnew: Bool, _ exchange: Exchange
  ) throws(ExchangeEnd) -> ChunkUpload? {
    let id = key(name, chunk.id)
    if exchange.effect.forgetsSession { _ = try exchange.session(id, ChunkUpload.self) }
    let isUsable: (ChunkUpload) -> Bool = { !startsAnew || $0.merged == nil }
    let found = try exchange.core.uploads.findOrMake(id, isUsable: isUsable) { () throws(ExchangeEnd) in
      try ChunkUpload(exchange.core, name, id, chunk)
    }
    guard let found else { return nil }
    if found.isNew { try exchange.note(.session(name, id: id, .opened)) }
    return found.session
  }

  /// True when chunks 0 ..< `count` are all stored and their sizes add up to the size of the file.
  var isComplete: Bool {
    let parts = parts.parts
    guard Int64(parts.count) == count, (0..<count).allSatisfy({ parts[$0] != nil }) else { return false }
    return parts.values.reduce(0) { $0 + $1.place.length } == size
  }

  /// The numbers (from 0) of missing chunks, at most `limit`.
  func missing(upTo limit: Int) -> [Int64] {
    let parts = parts.parts
    return Array((0..<count).lazy.filter { parts[$0] == nil }.prefix(limit))
  }
}

/// The chunk as a request describes it.
struct Chunk {
  var id: String
  /// Counts from 0, whatever the protocol counts from.
  var index: Int64
  var count: Int64
  var totalSize: Int64
  /// The size of all chunks but the last; nil when the protocol does not state it.
  var nominalSize: Int64?
  /// The offset of its first byte in the file; nil when the protocol does not state it.
  var offset: Int64?

  /// The offset of a chunk of `size` bytes: the one that the client states; otherwise the last chunk ends at the end of
  /// the file, and the others follow chunks of the nominal or their own size. Refuses impossible places with 400.
  func place(size: Int64) throws(ExchangeEnd) -> Int64 {
    let isLast = index == count - 1
    let place = offset ?? (isLast ? totalSize - size : index.multipliedClamped(by: nominalSize ?? size))
    guard index >= 0, index < count, count <= 1_000_000, place >= 0, place <= totalSize - size else {
      throw .refuse(400, "chunk \(index) of \(count) with \(size) bytes does not fit into \(totalSize) bytes")
    }
    return place
  }
}

extension Int64 {
  fileprivate func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
