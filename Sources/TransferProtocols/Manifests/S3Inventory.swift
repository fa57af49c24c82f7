public import TransferModel

/// The `manifest.json` of an S3 Inventory: the objects of a bucket at one time, listed in CSV files.
///
/// Source: "Amazon S3 Inventory" and "Locating your inventory list" of the Amazon S3 User Guide.
public struct S3Inventory: Sendable {
  /// One of its CSV files, which may be compressed.
  public struct Part: Sendable {
    /// The last component of its key in the bucket that the inventory is written to.
    public var name: NameBytes
    /// Bytes as stored; nil if the manifest does not say.
    public var size: Int64?
    /// The MD5 of these bytes.
    public var md5: Digest?
  }

  /// Maximum size of `manifest.json`, in bytes.
  public static let largest = JSONReader.largest

  /// The bucket whose objects are listed.
  public let bucket: String
  /// When its listing began, in milliseconds since 1970 UTC.
  public let createdMs: Int64?
  public let parts: [Part]
  let schema: InventorySchema

  /// Whether a file with this beginning is one.
  public static func isOne(_ front: [UInt8]) -> Bool {
    guard front.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == 0x7B else { return false }
    let text = String(decoding: front, as: UTF8.self)
    return text.contains("\"sourceBucket\"") && text.contains("\"fileSchema\"")
  }

  /// - Parameter name: the name of the file, for messages.
  /// - Throws: `.badList`.
  public init(_ text: [UInt8], _ name: NameBytes) throws(TransferError) {
    do throws(ManifestFault) { try self.init(text) } catch {
      throw TransferError(
        .badList, "read inventory", name, cause: error.cause, remedy: error.remedy)
    }
  }

  private init(_ text: [UInt8]) throws(ManifestFault) {
    let value: JSONValue
    do throws(JSONFault) { value = try JSONReader.read(text) } catch {
      throw ManifestFault("it is not a whole JSON document", "copy it again")
    }
    guard case .string(let bucket)? = value["sourceBucket"], case .string(let schema)? = value["fileSchema"],
      case .array(let files)? = value["files"]
    else {
      throw ManifestFault("it has no sourceBucket, fileSchema or files", "copy it again")
    }
    guard value["fileFormat"] ?? .string("CSV") == .string("CSV") else {
      throw ManifestFault("its files are not CSV", "configure the inventory with the format CSV")
    }
    self.bucket = bucket
    self.schema = try InventorySchema(schema)
    createdMs = Self.number(value["creationTimestamp"])
    parts = try files.map(Self.part)
  }

  private static func part(_ value: JSONValue) throws(ManifestFault) -> Part {
    guard case .string(let key)? = value["key"], case let name = NameBytes(key).lastComponent, !name.isEmpty,
      name != NameBytes(".."), name != NameBytes("."), !name.bytes.contains(0)
    else {
      throw ManifestFault("one of its files has no key", "copy it again")
    }
    var part = Part(name: name, size: number(value["size"]))
    if case .string(let text)? = value["MD5checksum"] {
      part.md5 = Array(text.utf8).withUnsafeBytes { ManifestDigest.value(.md5, $0) }
      guard part.md5 != nil else {
        throw ManifestFault("the MD5checksum of \(ManifestFault.shown(name.bytes)) is no MD5", "copy it again")
      }
    }
    return part
  }

  /// Some numbers are written as texts.
  private static func number(_ value: JSONValue?) -> Int64? {
    switch value {
    case .int(let number)?: number
    case .string(let text)?: Int64(text)
    default: nil
    }
  }
}

/// The positions of the columns of an inventory; its CSV files have no header.
struct InventorySchema: Sendable {
  let count: Int
  let key: Int
  let size, etag, isMultipart, encryption, isLatest, isDeleteMarker: Int?

  /// - Parameter text: `Bucket, Key, Size, ETag`.
  init(_ text: String) throws(ManifestFault) {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      String(name.filter { $0 != " " }).lowercased()
    }
    guard let key = names.firstIndex(of: "key") else {
      throw ManifestFault("its fileSchema has no Key", "copy it again")
    }
    (count, self.key, size, etag) = (names.count, key, names.firstIndex(of: "size"), names.firstIndex(of: "etag"))
    (isMultipart, encryption) = (names.firstIndex(of: "ismultipartuploaded"), names.firstIndex(of: "encryptionstatus"))
    (isLatest, isDeleteMarker) = (names.firstIndex(of: "islatest"), names.firstIndex(of: "isdeletemarker"))
  }
}
