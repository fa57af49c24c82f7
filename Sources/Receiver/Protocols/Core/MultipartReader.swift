import Glibc
import TransferModel

/// The head of one part of a multipart body.
struct MultipartPart: Equatable {
  /// `name` of its Content-Disposition.
  var name: String
  /// `filename` of its Content-Disposition, as bytes; nil for a plain field.
  var fileName: [UInt8]?
}

/// Parses a multipart/form-data body as it arrives; buffers no more than a delimiter and a part's head.
/// Source: RFC 7578, RFC 2046 section 5.1.
struct MultipartReader {
  enum Event {
    /// Its first byte is at `offset` of the body.
    case part(MultipartPart, offset: Int64)
    case bytes(UnsafeRawBufferPointer)
    case partEnd
  }

  private enum State {
    /// Before the first delimiter, or in the bytes of a part.
    case preamble, content
    /// After a delimiter: CRLF for another part, two minus signs for the end.
    case delimiter
    case head
    case epilogue
  }

  private static let headLimit = 16 << 10
  /// CRLF, two minus signs and the boundary.
  private let delimiter: [UInt8]
  private var state = State.preamble
  /// The possible beginning of a delimiter, or the part's head so far. The first delimiter has no CRLF before it.
  private var held: [UInt8] = [0x0D, 0x0A]
  /// The number of body bytes before the ones being parsed.
  private var passed: Int64 = 0

  init(boundary: [UInt8]) { delimiter = Array("\r\n--".utf8) + boundary }

  /// Reads the boundary from a Content-Type field; nil when it is not a form or has no boundary.
  static func boundary(_ contentType: String?) -> [UInt8]? {
    guard let contentType, contentType.lowercased().hasPrefix("multipart/form-data") else { return nil }
    let parameters = FieldParameters(contentType)
    guard let boundary = parameters["boundary"], (1...70).contains(boundary.count) else { return nil }
    return boundary
  }

  var isFinished: Bool { state == .epilogue }

  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) {
    var rest = bytes
    let before = passed
    defer { passed = before + Int64(bytes.count) }
    while !rest.isEmpty {
      passed = before + Int64(bytes.count - rest.count)
      switch state {
      case .preamble, .content: rest = try takeContent(rest, handle)
      case .delimiter, .head: rest = try takeHead(rest, handle)
      case .epilogue: return
      }
    }
  }

  private mutating func takeContent(
    _ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> UnsafeRawBufferPointer {
    if !held.isEmpty { return try takeHeld(bytes, handle) }
    if let found = Self.find(delimiter, in: bytes) {
      try emit(bytes[..<found], handle)
      try endPart(handle)
      return UnsafeRawBufferPointer(rebasing: bytes[(found + delimiter.count)...])
    }
    let tail = possibleStart(in: bytes)
    try emit(bytes[..<tail], handle)
    held = Array(bytes[tail...])
    return UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
  }

  /// Decides about the bytes held back, with as many new ones as necessary.
  private mutating func takeHeld(
    _ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> UnsafeRawBufferPointer {
    let before = held.count
    held += bytes.prefix(delimiter.count)
    if held.starts(with: delimiter) {
      held = []
      try endPart(handle)
      return UnsafeRawBufferPointer(rebasing: bytes[(delimiter.count - before)...])
    }
    if delimiter.starts(with: held) { return UnsafeRawBufferPointer(rebasing: bytes[bytes.count...]) }
    // No delimiter begins at the first held byte: pass on up to the next place where one could.
    let joined = held
    held = []
    var next = 1
    while next < before, !delimiter.starts(with: joined[next...].prefix(delimiter.count)) { next += 1 }
    let failure = joined.withUnsafeBytes { joined -> ExchangeEnd? in
      do throws(ExchangeEnd) { try emit(joined[..<next], handle) } catch { return error }
      return nil
    }
    if let failure { throw failure }
    held = Array(joined[next..<before])
    return bytes
  }

  private func emit(
    _ bytes: Slice<UnsafeRawBufferPointer>, _ handle: (Event) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) {
    guard state == .content, !bytes.isEmpty else { return }
    try handle(.bytes(UnsafeRawBufferPointer(rebasing: bytes)))
  }

  private mutating func endPart(_ handle: (Event) throws(ExchangeEnd) -> Void) throws(ExchangeEnd) {
    if state == .content { try handle(.partEnd) }
    state = .delimiter
  }

  /// The two bytes after a delimiter, or the fields up to the empty line.
  private mutating func takeHead(
    _ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> UnsafeRawBufferPointer {
    var at = 0
    while at < bytes.count {
      held.append(bytes[at])
      at += 1
      if state == .delimiter && held.count == 2 {
        guard held == [0x0D, 0x0A] || held == [0x2D, 0x2D] else { throw Self.malformed }
        state = held == [0x2D, 0x2D] ? .epilogue : .head
        if state == .epilogue { break }
      } else if state == .head && held.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] {
        let part = try Self.part(held.dropFirst(2).dropLast(4))
        state = .content
        held = []
        try handle(.part(part, offset: passed + Int64(at)))
        break
      }
      if held.count > Self.headLimit { throw .refuse(431, "the head of a part is longer than 16 KiB") }
    }
    return UnsafeRawBufferPointer(rebasing: bytes[at...])
  }

  private static func part(_ head: ArraySlice<UInt8>) throws(ExchangeEnd) -> MultipartPart {
    for field in try RequestHead.fields(head.split(separator: 0x0A)[...]) where field.name == "content-disposition" {
      let parameters = FieldParameters(field.value)
      guard let name = parameters["name"] else { break }
      return MultipartPart(name: String(decoding: name, as: UTF8.self), fileName: parameters["filename"])
    }
    throw malformed
  }

  private static let malformed = ExchangeEnd.refuse(400, "the multipart body is malformed")

  /// The index of the first byte near the end that could begin a delimiter.
  private func possibleStart(in bytes: UnsafeRawBufferPointer) -> Int {
    var at = max(0, bytes.count - delimiter.count + 1)
    while at < bytes.count, !delimiter.starts(with: bytes[at...]) { at += 1 }
    return at
  }

  private static func find(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
    let base = bytes.baseAddress!
    var at = 0
    while at + needle.count <= bytes.count {
      guard let found = memchr(base + at, Int32(needle[0]), bytes.count - needle.count + 1 - at) else { return nil }
      at = UnsafeRawPointer(found) - base
      if memcmp(found, needle, needle.count) == 0 { return at }
      at += 1
    }
    return nil
  }
}
