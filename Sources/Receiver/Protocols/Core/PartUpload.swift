import TransferModel

/// The parts of an object that arrive in any order and concurrently, in one staged file. A part is stored as a whole or
/// not at all, and may be sent again. Called from the threads of all connections.
final class PartUpload: Sendable {
  struct Part: Sendable {
    /// Its place in the staged file.
    var place: ByteRange
    var crc32c: UInt32
    /// What the protocol stores with it, such as an entity tag.
    var tag: String
  }

  private struct State {
    var parts: [Int64: Part] = [:]
    /// Places that are being written.
    var reserved: [ByteRange] = []
    var isClosed = false

    func isFree(_ place: ByteRange) -> Bool {
      !reserved.contains { $0.overlaps(place) } && !parts.values.contains { $0.place.overlaps(place) }
    }

    mutating func release(_ place: ByteRange) {
      if let index = reserved.firstIndex(of: place) { reserved.remove(at: index) }
    }

    var end: Int64 { max(reserved.map(\.end).max() ?? 0, parts.values.map(\.place.end).max() ?? 0) }
  }

  private let state = Lock(State())
  private let file: StagedFile

  init(_ core: ReceiverCore) throws(ExchangeEnd) { file = try StagedFile(core) }

  /// A snapshot of the stored parts.
  var parts: [Int64: Part] { state.withLock(\.parts) }

  /// Reserves a place for `size` bytes: `preferred` if it is free, so that the parts end up in the object's order,
  /// otherwise after everything else. Nil when the parts are joined already.
  func slot(_ number: Int64, preferred: Int64, size: Int64) -> PartSlot? {
    let place = state.withLock { state -> ByteRange? in
      if state.isClosed { return nil }
      var place = ByteRange(offset: preferred, length: size)
      if !state.isFree(place) { place = ByteRange(offset: state.end, length: size) }
      state.reserved.append(place)
      return place
    }
    return place.map { PartSlot(self, file, number, $0) }
  }

  /// Makes the bytes written to a place a part. A stored part with the same bytes keeps its place.
  fileprivate func keep(_ part: Part, as number: Int64, reserved: ByteRange) {
    state.withLock { state in
      state.release(reserved)
      if let known = state.parts[number], known.place.length == part.place.length, known.crc32c == part.crc32c {
        state.parts[number]?.tag = part.tag
      } else {
        state.parts[number] = part
      }
    }
  }

  fileprivate func release(_ reserved: ByteRange) { state.withLock { $0.release(reserved) } }

  /// Forgets parts, highest number first, until at least `count` bytes are gone.
  func regress(by count: Int64) {
    state.withLock { state in
      var left = count
      for number in state.parts.keys.sorted(by: >) where left > 0 {
        left -= state.parts.removeValue(forKey: number)?.place.length ?? 0
      }
    }
  }

  /// Refuses further parts and returns true; returns false and does nothing while some are being received.
  private func close() -> Bool {
    state.withLock { state in
      state.isClosed = state.reserved.isEmpty
      return state.isClosed
    }
  }

  private func reopen() { state.withLock { $0.isClosed = false } }

  /// Joins the parts with these numbers in this order and publishes them. Durable on return; `created` when the name
  /// was free. Nil while parts are being received. `modifiedSeconds` as in ``StagedObject``.
  func publish(
    _ exchange: Exchange, _ numbers: [Int64], at path: ObjectPath, _ condition: StagedObject.Condition = .replace,
    modifiedSeconds: Int64? = nil
  ) throws(ExchangeEnd) -> (created: Bool, size: Int64, crc32c: UInt32)? {
    guard close() else { return nil }
    do throws(ExchangeEnd) {
      let ordered = numbers.compactMap { parts[$0] }
      precondition(ordered.count == numbers.count, "parts to be joined are missing")
      let size = ordered.reduce(0) { $0 + $1.place.length }
      let crc32c = ordered.reduce(0) { CRC32C.combined($0, $1.crc32c, lengthB: $1.place.length) }
      try file.arrange(ordered.map(\.place), exchange.core)
      file.staged?.modifiedSeconds = modifiedSeconds
      let created = try exchange.publish(file.staged, at: path, condition, size: size, crc32c: crc32c)
      file.staged = nil
      return (created, size, crc32c)
    } catch {
      reopen()
      throw error
    }
  }

  /// Copies the parts with these numbers in this order to a separate file; nil when bodies are discarded.
  func copy(_ numbers: [Int64], _ core: ReceiverCore) throws(ExchangeEnd) -> StagedObject? {
    guard let staged = file.staged, let store = core.store else { return nil }
    let (known, copy) = (parts, try StagedObject(store))
    var offset: Int64 = 0
    for place in numbers.compactMap({ known[$0]?.place }) {
      try copy.copy(place, of: staged, to: offset)
      offset += place.length
    }
    return copy
  }

  /// Removes the bytes from the disk.
  func discard() {
    if close() { file.staged = nil }
  }
}

/// The staged file of a ``PartUpload``. Slots write to separate places; everything else happens while there are no
/// slots.
private final class StagedFile: @unchecked Sendable {
  /// nil when bodies are discarded, and once the object is published.
  var staged: StagedObject?

  init(_ core: ReceiverCore) throws(ExchangeEnd) {
    if let store = core.store { staged = try StagedObject(store) }
  }

  /// Arranges the places in this order, without gaps: by copying, unless they already are.
  func arrange(_ places: [ByteRange], _ core: ReceiverCore) throws(ExchangeEnd) {
    guard let staged, let store = core.store else { return }
    var (end, isInOrder) = (Int64(0), true)
    for place in places where place.length > 0 {
      isInOrder = isInOrder && place.offset == end
      end += place.length
    }
    if isInOrder { return try staged.truncate(to: end) }
    let copy = try StagedObject(store)
    var offset: Int64 = 0
    for place in places {
      try copy.copy(place, of: staged, to: offset)
      offset += place.length
    }
    self.staged = copy
  }
}

/// The place of one part while it is being received. It is released unless it is finished. Used by one thread.
final class PartSlot {
  private let upload: PartUpload
  private let file: StagedFile
  private let number: Int64
  private let place: ByteRange
  private var crc = CRC32C()
  private var size: Int64 = 0
  private var isOpen = true

  fileprivate init(_ upload: PartUpload, _ file: StagedFile, _ number: Int64, _ place: ByteRange) {
    (self.upload, self.file, self.number, self.place) = (upload, file, number, place)
  }

  deinit { if isOpen { upload.release(place) } }

  var crc32c: UInt32 { crc.value }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ExchangeEnd) {
    guard size + Int64(bytes.count) <= place.length else { throw .refuse(400, "the part is longer than announced") }
    try file.staged?.write(bytes, at: place.offset + size)
    crc.add(bytes)
    size += Int64(bytes.count)
  }

  /// Makes the bytes a part; they are on the disk.
  @discardableResult
  func finish(tag: String = "") throws(ExchangeEnd) -> PartUpload.Part {
    try file.staged?.flush()
    let part = PartUpload.Part(
      place: ByteRange(offset: place.offset, length: size), crc32c: crc.value, tag: tag)
    isOpen = false
    upload.keep(part, as: number, reserved: place)
    return part
  }
}

extension ByteRange {
  /// Whether the ranges share a byte.
  func overlaps(_ other: ByteRange) -> Bool { max(offset, other.offset) < min(end, other.end) }
}
