import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that HTCondor wants moved: one ad of the input of a file-transfer plug-in.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins", protocol versions 2 and 4.
package struct CondorFile: Sendable {
  /// As they were asked for: the answer repeats them.
  package let url, localName: NameBytes
  /// Where an upload goes, see ``escapingName(_:_:)``.
  private(set) var target: NameBytes
  /// Absolute.
  let path: NameBytes
  /// What keeps it from being moved at all.
  package internal(set) var fault: TransferError?

  /// An input of this many files is some 4 KiB for each of them.
  static let longestInput = 256 << 20

  /// nil for an ad that is about no file (version 4): what such ads say is not known here, and is ignored as all
  /// attributes are but two.
  init?(_ ad: ClassAd) {
    guard ad["Url"] != nil || ad["LocalFileName"] != nil else { return nil }
    (url, localName) = (ad.string("Url") ?? NameBytes(""), ad.string("LocalFileName") ?? NameBytes(""))
    path = AbsolutePath.of(localName)
    target = url
    if url.utf8?.contains("://") != true || url.bytes.contains(0x0A) || localName.isEmpty
      || localName.bytes.last == 0x2F
    {
      fault = Self.error("read ad", url.isEmpty ? localName : url, "its Url or LocalFileName names no file")
    }
  }

  /// Keys in buckets are used as they are: nothing in them is an escape or a template.
  var isInBucket: Bool { url.utf8?.prefix(5).lowercased() == "s3://" }

  /// HTCondor puts names behind URLs as they are, with blanks and letters that no URL of the web has.
  var visibleURL: String {
    guard !isInBucket else { return url.utf8 ?? "" }
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = url.bytes.flatMap { byte in
      (0x21...0x7E).contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// All files of an input; a second one of the same place is marked.
  /// - Throws: `.noSource`, `.badList`.
  package static func read(_ input: NameBytes, _ direction: Direction) throws(TransferError) -> [CondorFile] {
    guard let bytes = FileText.bytes(input, limit: longestInput), bytes.count < longestInput else {
      throw TransferError(
        .noSource, "read input", input, cause: "it cannot be read, or has more than 256 MiB", remedy: "see -infile")
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
        remedy: "it holds ClassAds in the new syntax, as HTCondor writes them")
    }
    return files
  }

  /// HTCondor puts the name of a file behind the URL of a folder as it is: what would be an escape, a query or a
  /// fragment there is part of the name. A URL that somebody signed ends otherwise.
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

/// Where a file goes, so that two of them are told apart.
private enum Place: Hashable {
  case url(NameBytes)
  /// Whatever links lead to its folder.
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
