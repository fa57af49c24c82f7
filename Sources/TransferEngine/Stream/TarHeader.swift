import TransferModel

/// The header of a regular file in an archive of POSIX.1-2001 (pax; IEEE Std 1003.1-2017, "pax Interchange Format"):
/// the classic `tar` header of 1988, preceded by a header with records if that cannot represent the name or the size.
enum TarHeader {
  static let block = 512
  private static let longestName = 100
  private static let largestSize: Int64 = 0o777_7777_7777

  /// - Parameters:
  ///   - name: relative; may contain any byte except NUL.
  ///   - size: in bytes.
  ///   - modifiedMs: milliseconds since 1970 UTC.
  static func bytes(_ name: NameBytes, size: Int64, modifiedMs: Int64) -> [UInt8] {
    var records: [UInt8] = []
    if name.bytes.count > longestName || name.bytes.contains(where: { $0 >= 0x80 }) {
      // Linux names are bytes; pax names are UTF-8 unless declared otherwise.
      if name.utf8 == nil { records += record("hdrcharset", Array("BINARY".utf8)) }
      records += record("path", name.bytes)
    }
    if size > largestSize { records += record("size", Array(String(size).utf8)) }
    let seconds = max(0, modifiedMs / 1_000)
    let plain = header(Array(name.bytes.prefix(longestName)), size: min(size, largestSize), seconds, type: 0x30)
    guard !records.isEmpty else { return plain }
    let extended = header(Array("PaxHeader".utf8), size: Int64(records.count), seconds, type: 0x78)
    return extended + records + padding(Int64(records.count)) + plain
  }

  /// Written after the last complete file of an interrupted archive. At a file boundary a reader would take the end of
  /// its input as the end of the archive; GNU tar 1.34 does so even if less than a block follows. This header announces
  /// records that never follow.
  static let brokenOff =
    header(Array("PaxHeader".utf8), size: Int64(2 * block), 0, type: 0x78) + record("comment", Array("incomplete".utf8))

  /// The end of an archive, after the last file.
  static let end = [UInt8](repeating: 0, count: 2 * block)

  /// Padding of the last block of a file of `size` bytes.
  static func padding(_ size: Int64) -> [UInt8] {
    [UInt8](repeating: 0, count: (block - Int(size % Int64(block))) % block)
  }

  /// `LENGTH KEY=VALUE` and a line feed; the length counts itself.
  private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
    let rest = [0x20] + Array(key.utf8) + [0x3D] + value + [0x0A]
    var length = rest.count + 1
    while String(length).utf8.count + rest.count != length { length = String(length).utf8.count + rest.count }
    return Array(String(length).utf8) + rest
  }

  private static func header(_ name: [UInt8], size: Int64, _ seconds: Int64, type: UInt8) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: block)
    func put(_ bytes: [UInt8], at offset: Int) { header.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    put(name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    put(octal(size, 11), at: 124)
    put(octal(min(seconds, largestSize), 11), at: 136)
    put([type], at: 156)
    put(Array("ustar\u{0}00".utf8), at: 257)
    // The checksum is the sum of all bytes, with blanks in its own field.
    put([UInt8](repeating: 0x20, count: 8), at: 148)
    put(octal(header.reduce(0) { $0 + Int64($1) }, 6) + [0], at: 148)
    return header
  }

  private static func octal(_ number: Int64, _ width: Int) -> [UInt8] {
    let digits = Array(String(number, radix: 8).utf8)
    return [UInt8](repeating: 0x30, count: width - digits.count) + digits
  }
}
