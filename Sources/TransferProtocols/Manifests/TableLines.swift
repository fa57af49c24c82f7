import TransferModel

/// Tables with a header (RFC 4180): `url`, `path`, `size`, `digest` and so on (``ManifestField``); other columns are
/// ignored. Columns are separated by tabs if the header contains one, else by commas; with either, a field in double
/// quotes may contain anything.
final class TableLines: ManifestLines {
  private var places = ManifestPlaces()
  private var record = TableRecord()
  private var columns: [ManifestField?]?
  /// The line in which the current record began.
  private var start = 0
  /// It lists files to send: unknown columns are errors.
  private let isUpload: Bool

  init(isUpload: Bool = false) { self.isUpload = isUpload }

  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry? {
    if !record.isOpen {
      guard !line.isEmpty else { return nil }
      start = number
      if columns == nil { record.separator = line.contains(0x09) ? 0x09 : 0x2C }
    }
    guard try record.append(line, start) else { return nil }
    guard let columns else {
      do throws(ManifestFault) { columns = try readHeader() } catch {
        throw ManifestFault(error.cause, error.remedy, line: start)
      }
      return nil
    }
    guard record.count == columns.count else {
      throw ManifestFault(
        "it has \(record.count) fields, and the header \(columns.count)",
        "put fields that hold separators in double quotes", line: start)
    }
    do throws(ManifestFault) {
      return try record.withFields { fields throws(ManifestFault) in try read(fields, columns) }
    } catch {
      throw ManifestFault(error.cause, error.remedy, line: start)
    }
  }

  func last() throws(ManifestFault) -> ManifestEntry? {
    if record.isOpen { throw TableRecord.unclosed(start) }
    return nil
  }

  private func readHeader() throws(ManifestFault) -> [ManifestField?] {
    let columns = try record.withFields { fields throws(ManifestFault) in
      try fields.map { name throws(ManifestFault) in
        let field = ManifestField(name: name)
        if isUpload, field == nil { throw ManifestField.unknown(name) }
        return field
      }
    }
    let known = columns.compactMap(\.self)
    guard Set(known).count == known.count else {
      throw ManifestFault("two columns of the header say the same", "keep one of them", line: start)
    }
    guard known.contains(.url) || known.contains(.path) else {
      throw ManifestFault(
        "the header has no column \"url\" or \"path\"",
        "name the columns url, path, size, digest or sha256, with commas or tabs between them", line: start)
    }
    return columns
  }

  private func read(
    _ fields: [UnsafeRawBufferPointer], _ columns: [ManifestField?]
  ) throws(ManifestFault) -> ManifestEntry {
    var url: UnsafeRawBufferPointer?
    var path: UnsafeRawBufferPointer?
    var mirrors: UnsafeRawBufferPointer?
    var size: Int64?
    var digests: [Digest] = []
    var pieces: UnsafeRawBufferPointer?
    var mtimeNs: Int64?
    var upload = UploadColumns(isUpload: isUpload)
    for (column, field) in zip(columns, fields) where !field.isEmpty {
      if let column { try upload.take(column, field) }
      switch column {
      case .url: url = field
      case .path: path = field
      case .pathBytes: throw ManifestFault("a table has no column path_b64", "write the bytes as they are: path")
      case .mirrors: mirrors = field
      case .size: size = try ManifestPlaces.size(field)
      case .mtime: mtimeNs = ManifestTime.ns(field)
      case .pieces: pieces = field
      case .digest: try NamedDigests.read(field, into: &digests)
      case .digestOf(let algorithm):
        guard let digest = ManifestDigest.value(algorithm, field) else { throw ManifestDigest.wrongValue(algorithm) }
        try ManifestDigest.add(digest, to: &digests)
      case .key, .setting, nil: break
      }
    }
    let (location, target) = try places.read(url: url, path: path, mirrors: mirrors)
    return try upload.complete(
      ManifestEntry(
        location: location, path: target, size: size, digests: digests,
        pieces: try pieces.map { text throws(ManifestFault) in try NamedPieces.read(text, size: size) },
        mtimeNs: mtimeNs, line: start))
  }
}
