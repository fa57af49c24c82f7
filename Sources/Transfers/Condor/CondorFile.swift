import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that HTCondor requests to be transferred: one ad of the input of a file-transfer plug-in.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins", protocol versions 2 and 4.
package struct CondorFile: Sendable {
  /// As requested; repeated in the answer.
  package let url, localName: NameBytes
  /// The target of an upload, see ``escapingName(_:_:)``.
  private(set) var target: NameBytes
  /// Absolute.
  let path: NameBytes
  /// Why it cannot be transferred at all.
  package internal(set) var fault: TransferError?

  /// The maximum size of an input or output, in bytes: enough for 65,536 files with some 4 KiB each.
  static let longestInput = 256 << 20

  /// nil for an ad that is not about a file (version 4): such ads are not interpreted. Of other ads, all attributes
  /// except two are ignored.
  init?(_ ad: ClassAd) {
    guard ad["Url"] != nil || ad["LocalFileName"] != nil else { return nil }
    (url, localName) = (ad.string("Url") ?? NameBytes(""), ad.string("LocalFileName") ?? NameBytes(""))
    path = AbsolutePath.of(localName)
    target = url
    if url.utf8?.contains("://") != true || url.bytes.contains(0x0A) || localName.isEmpty
      || localName.bytes.last == 0x2F
    {
      fault = Self.error("read ad", url.isEmpty ? localName : url, "its Url or LocalFileName does not name a file")
    }
  }

  /// Keys in buckets are used literally: they contain neither escapes nor templates.
  var isInBucket: Bool { url.utf8?.prefix(5).lowercased() == "s3://" }

  /// The URL with invalid bytes percent-encoded: HTCondor appends names to URLs unescaped, including blanks and
  /// characters that are not allowed in URLs.
  var visibleURL: String {
    guard !isInBucket else { return url.utf8 ?? "" }
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = url.bytes.flatMap { byte in
      (0x21...0x7E).contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// All files of an input. A second file with the same target is marked with a fault.
  /// - Throws: `.noSource`, `.badList`.
  package static func read(_ input: NameBytes, _ direction: Direction) throws(TransferError) -> [CondorFile] {
    guard let bytes = FileText.bytes(input, limit: longestInput), bytes.count < longestInput else {
      throw TransferError(
        .noSource, "read input", input, cause: "it cannot be read, or is larger than 256 MiB", remedy: "see -infile")
    }
    var reader = ClassAdReader(bytes)
    var (files, places): ([CondorFile], Set<Place>) = ([], [])
    do throws(ClassAdReader.Fault) {
      while let ad = try reader.next() {
        guard var file = CondorFile(ad) else { continue }
        if direction == .upload, !file.isInBucket { file.target = escapingName(file.url, file.path.lastComponent) }
        if file.fault == nil, !places.insert(direction == .upload ? .url(file.target) : Place(file.path)).inserted {
          file.fault = error("read ad", file.localName, "another file of this input goes to the same place")
        }
        files.append(file)
      }
    } catch {
      throw TransferError(
        .badList, "read input", input, cause: "line \(error.line): \(error.cause)",
        remedy: "it must contain ClassAds in the new syntax, as HTCondor writes them")
    }
    return files
  }

  /// HTCondor appends the name of a file to the URL of a folder unescaped: apparent escapes, queries and fragments
  /// there are part of the name, and are escaped here. A presigned URL does not end with the name and is not changed.
  static func escapingName(_ url: NameBytes, _ name: NameBytes) -> NameBytes {
    guard !name.isEmpty, url.bytes.count > name.bytes.count, url.bytes.suffix(name.bytes.count) == name.bytes[...],
      case let folder = url.bytes.dropLast(name.bytes.count), folder.last == 0x2F
    else { return url }
    let escapes: [UInt8: String] = [0x25: "%25", 0x3F: "%3F", 0x23: "%23"]
    return NameBytes(folder + name.bytes.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] })
  }

  static func error(_ operation: String, _ subject: NameBytes, _ cause: String) -> TransferError {
    TransferError(.badList, operation, subject, cause: cause)
  }
}

/// The target of a file, for detecting two files with the same target.
private enum Place: Hashable {
  case url(NameBytes)
  /// Independent of links that lead to its folder.
  case inFolder(device: UInt64, inode: UInt64, name: NameBytes)
  case path(NameBytes)

  init(_ path: NameBytes) {
    let name = path.lastComponent
    var status = stat()
    let folder = NameBytes(Array(path.bytes.dropLast(name.bytes.count)))
    guard folder.withCString({ stat($0, &status) }) == 0 else {
      self = .path(path)
      return
    }
    self = .inFolder(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), name: name)
  }
}
