import TransferModel

/// One JSON object per line, with the members that are columns in tables: `url`, `path`, `size`, `digest` and so on
/// (``ManifestField``); others are ignored. `null` means that the value is missing. A ``ManifestFrame`` may enclose
/// them.
final class JSONLines: ManifestLines {
  private var places = ManifestPlaces()
  private var frame = ManifestFrame()
  /// It lists files to send: unknown members are errors.
  private let isUpload: Bool

  init(isUpload: Bool = false) { self.isUpload = isUpload }

  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry? {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
    let value: JSONValue
    do throws(JSONFault) { value = try JSONReader.read(Array(line), isExact: true) } catch {
      guard frame.isUnfinished, case .syntax = error else { throw Self.fault(error) }
      throw ManifestFault("it is damaged, or the manifest is cut off here", "copy it again")
    }
    guard case .object(let members) = value else { throw Self.noObject }
    if try frame.takes(value) { return nil }
    var texts: [ManifestField: [UInt8]] = [:]
    var size: Int64?
    var seen: Set<ManifestField> = []
    for member in members {
      guard let field = ManifestField(name: member.name.utf8) else {
        if isUpload { throw ManifestField.unknown(member.name.utf8) }
        continue
      }
      guard seen.insert(field).inserted else {
        throw ManifestFault("it has \(ManifestFault.shown(member.name.utf8)) twice", "keep the one that is meant")
      }
      switch (field, member.value) {
      case (_, .null): break
      case (.size, .int(let number)): size = try Self.size(number)
      case (.size, .string(let text)): size = try ManifestPlaces.size(Array(text.utf8))
      case (.size, _): size = try Self.size(-1)
      case (.mirrors, .array(let all)): texts[field] = try Self.joined(all)
      case (_, .string(let text)): texts[field] = Array(text.utf8)
      // A number of seconds, in a manifest of another program.
      case (.mtime, _): break
      case (.setting, .int(let number)): texts[field] = Array(String(number).utf8)
      case (.key, _) where !isUpload, (.setting, _) where !isUpload: break
      default:
        throw ManifestFault("its \(ManifestFault.shown(member.name.utf8)) is not a text", "put it in double quotes")
      }
    }
    return try entry(texts, size, number)
  }

  func last() throws(ManifestFault) -> ManifestEntry? {
    try frame.end()
    return nil
  }

  private func entry(
    _ texts: [ManifestField: [UInt8]], _ size: Int64?, _ number: Int
  ) throws(ManifestFault) -> ManifestEntry {
    frame.count(size)
    var texts = texts
    if let text = texts.removeValue(forKey: .pathBytes) {
      guard let bytes = bytesFromBase64(String(decoding: text, as: UTF8.self)) else {
        throw ManifestFault("its path_b64 is not base64", "correct it, or leave it out")
      }
      texts[.path] = bytes
    }
    var digests: [Digest] = []
    var columns = UploadColumns(isUpload: isUpload)
    for (field, text) in texts {
      try Self.addDigest(field, text, to: &digests)
      try Self.withBytes(text) { bytes throws(ManifestFault) in
        if let bytes, !bytes.isEmpty { try columns.take(field, bytes) }
      }
    }
    let (location, path) = try Self.withBytes(texts[.url]) { url throws(ManifestFault) in
      try Self.withBytes(texts[.path]) { path throws(ManifestFault) in
        try Self.withBytes(texts[.mirrors]) { mirrors throws(ManifestFault) in
          try places.read(url: url, path: path, mirrors: mirrors, hasEscapedLineEnds: true)
        }
      }
    }
    let pieces = try texts[.pieces].map { text throws(ManifestFault) in
      try NamedPieces.read(text, size: size)
    }
    return try columns.complete(
      ManifestEntry(
        location: location, path: path, size: size, digests: digests, pieces: pieces,
        mtimeNs: texts[.mtime].flatMap { ManifestTime.ns($0) }, line: number))
  }

  private static func addDigest(
    _ field: ManifestField, _ text: [UInt8], to digests: inout [Digest]
  ) throws(ManifestFault) {
    try text.withUnsafeBufferPointer { buffer throws(ManifestFault) in
      let bytes = UnsafeRawBufferPointer(buffer)
      switch field {
      case .digest: try NamedDigests.read(bytes, into: &digests)
      case .digestOf(let algorithm):
        guard let digest = ManifestDigest.value(algorithm, bytes) else { throw ManifestDigest.wrongValue(algorithm) }
        try ManifestDigest.add(digest, to: &digests)
      case .url, .path, .pathBytes, .size, .mirrors, .mtime, .pieces, .key, .setting: break
      }
    }
  }

  private static func joined(_ urls: [JSONValue]) throws(ManifestFault) -> [UInt8] {
    var text: [UInt8] = []
    for value in urls {
      guard case .string(let url) = value, !url.isEmpty, !url.utf8.contains(0x20) else {
        throw ManifestFault("one of its mirrors is not a URL", "give them as texts in brackets")
      }
      text += (text.isEmpty ? [] : [0x20]) + Array(url.utf8)
    }
    return text
  }

  private static func withBytes<R>(
    _ text: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws(ManifestFault) -> R
  ) throws(ManifestFault) -> R {
    guard let text else { return try body(nil) }
    return try text.withUnsafeBufferPointer { buffer throws(ManifestFault) in try body(UnsafeRawBufferPointer(buffer)) }
  }

  private static func size(_ number: Int64) throws(ManifestFault) -> Int64 {
    try ManifestPlaces.size(Array(String(number).utf8))
  }

  private static let noObject = ManifestFault(
    "it is not a JSON object", "write one object a line, {\"url\": …, \"path\": …, \"size\": …, \"sha256\": …}")

  private static func fault(_ fault: JSONFault) -> ManifestFault {
    switch fault {
    case .notUTF8: ManifestFault("it is not UTF-8", "convert the file to UTF-8")
    case .tooDeep, .tooLarge: ManifestFault("its JSON is nested too deep", "write flat objects")
    case .loneSurrogate:
      ManifestFault("a text in it has half of a surrogate pair", "put the exact bytes of a path into path_b64")
    case .syntax: noObject
    }
  }
}
