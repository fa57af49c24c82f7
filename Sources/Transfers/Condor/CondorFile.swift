import TransferEngine
package import TransferModel
import TransferProtocols

/// A file that HTCondor wants moved: one ad of the input of a file-transfer plug-in.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins", protocol versions 2 and 4.
package struct CondorFile: Sendable {
  /// As they were asked for: the answer repeats them.
  package let url, localName: NameBytes
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
    var (files, places): ([CondorFile], Set<NameBytes>) = ([], [])
    do throws(ClassAdReader.Fault) {
      while let ad = try reader.next() {
        guard var file = CondorFile(ad) else { continue }
        if file.fault == nil, !places.insert(direction == .upload ? file.url : file.path).inserted {
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

  static func error(_ operation: String, _ subject: NameBytes, _ cause: String) -> TransferError {
    TransferError(.badList, operation, subject, cause: cause)
  }
}
