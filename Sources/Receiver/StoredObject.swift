import Glibc
import TransferModel

/// An opened stored object.
struct StoredObject {
  var descriptor: Descriptor
  var size: Int64
  var modifiedSeconds: Int
  var crc32c: UInt32
  /// Not 0 in another version of the stored object.
  var mask: UInt8 = 0

  /// Another version of the object: it has the same length, but every byte differs, and it was modified as many seconds
  /// later.
  func version(_ number: UInt8) throws(ExchangeEnd) -> StoredObject {
    var other = self
    other.mask = number
    other.modifiedSeconds += Int(number)
    other.crc32c = try ChecksumCache.compute(descriptor, mask: number)
    return other
  }

  var etag: String { objectETag(crc32c: crc32c, size: size) }
}

/// The strong entity tag of the receiver: `"<crc32c>-<size>"`.
func objectETag(crc32c: UInt32, size: Int64) -> String { "\"\(CRC32C.text(crc32c))-\(size)\"" }
