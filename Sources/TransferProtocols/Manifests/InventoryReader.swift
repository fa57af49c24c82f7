public import TransferModel

/// An object of a bucket, as an inventory lists it.
public struct InventoryObject: Sendable, Hashable {
  public var key: NameBytes
  /// Bytes; nil if the inventory does not say.
  public var size: Int64?
  /// The MD5 of the content, if its ETag is one.
  public var md5: Digest?
  /// Its line in the CSV file, from 1.
  public var line: Int

  /// The object as a file of a manifest; nil for the marker of a folder, whose key ends with a slash.
  /// - Throws: `.badList` for a key that cannot be the path of a file.
  public func entry(of file: NameBytes) throws(TransferError) -> ManifestEntry? {
    if key.bytes.last == 0x2F { return nil }
    do throws(ManifestFault) {
      let path = try key.bytes.withUnsafeBufferPointer { bytes throws(ManifestFault) in
        try ManifestPath.read(UnsafeRawBufferPointer(bytes), hasEscapedLineEnds: true)
      }
      return ManifestEntry(
        location: .relative(path), path: path, size: size, digests: md5.map { [$0] } ?? [], line: line)
    } catch {
      throw error.error(file, line: line)
    }
  }
}

/// Reads one CSV file of an inventory from buffers of any size, and delivers the newest version of each object. Memory
/// does not grow with the number of lines.
public final class InventoryReader {
  private let schema: InventorySchema
  private let name: NameBytes
  private var splitter: LineSplitter
  private var record = TableRecord()
  private var start = 0

  /// - Parameter name: the name of the CSV file, for messages.
  public init(_ inventory: S3Inventory, name: NameBytes) {
    (schema, self.name, splitter) = (inventory.schema, name, LineSplitter(name))
  }

  /// Accepts the next bytes; `isLast` means that none follow.
  /// - Throws: `.badList` with the line and the remedy, or any error of `body`.
  public func read(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, _ body: (InventoryObject) throws(TransferError) -> Void
  ) throws(TransferError) {
    try splitter.split(bytes, isLast: isLast) { line, number throws(TransferError) in
      let object: InventoryObject?
      do throws(ManifestFault) { object = try self.object(line, number) } catch {
        throw error.error(name, line: number)
      }
      if let object { try body(object) }
    }
    if isLast, record.isOpen { throw TableRecord.unclosed(start).error(name, line: start) }
  }

  private func object(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> InventoryObject? {
    if !record.isOpen {
      guard !line.isEmpty else { return nil }
      start = number
    }
    guard try record.append(line, start) else { return nil }
    guard record.count == schema.count else {
      throw ManifestFault(
        "it has \(record.count) fields, and the fileSchema \(schema.count)", "copy the inventory again", line: start)
    }
    return try record.withFields { fields throws(ManifestFault) in try object(fields) }
  }

  /// nil for an older version, and for the marker of a deletion.
  private func object(_ fields: [UnsafeRawBufferPointer]) throws(ManifestFault) -> InventoryObject? {
    func says(_ column: Int?, _ word: String) -> Bool {
      guard let column else { return false }
      return String(decoding: fields[column], as: UTF8.self).lowercased() == word
    }
    if says(schema.isLatest, "false") || says(schema.isDeleteMarker, "true") { return nil }
    // Encoded like a form: a space is "+".
    let text = fields[schema.key].map { $0 == 0x2B ? 0x20 : $0 }
    guard let key = PercentEncoding.decode(text), !key.isEmpty else {
      throw ManifestFault("its key is not URL-encoded", "copy the inventory again")
    }
    let size = schema.size.map { fields[$0] }.flatMap { $0.isEmpty ? nil : $0 }
    var object = InventoryObject(
      key: NameBytes(key), size: try size.map { text throws(ManifestFault) in try ManifestPlaces.size(text) },
      line: start)
    // Of parts, and encrypted with keys of KMS or of the client, an object has an ETag that is no MD5.
    let isPlain = schema.encryption == nil || says(schema.encryption, "not-sse") || says(schema.encryption, "sse-s3")
    if let etag = schema.etag, isPlain, !says(schema.isMultipart, "true") {
      object.md5 = ManifestDigest.hex(Self.unquoted(fields[etag])).flatMap { $0.count == 16 ? Digest(.md5, $0) : nil }
    }
    return object
  }

  private static func unquoted(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard text.count > 1, text.first == 0x22, text.last == 0x22 else { return text }
    return UnsafeRawBufferPointer(rebasing: text.dropFirst().dropLast())
  }
}
