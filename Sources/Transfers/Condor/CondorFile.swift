import TransferEngine
package import TransferModel
import TransferProtocols

/// A file that HTCondor requests to be transferred: one ad of the input of a file-transfer plug-in.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins", protocol versions 2 and 4.
package struct CondorFile: Sendable {
  /// As requested; repeated in the answer.
  let url, localName: NameBytes
  /// What is transferred for it.
  package let pair: FilePair

  /// nil for an ad that is not about a file (version 4): such ads are not interpreted. Of other ads, all attributes
  /// except two are ignored.
  init?(_ ad: ClassAd, _ direction: Direction) {
    guard ad["Url"] != nil || ad["LocalFileName"] != nil else { return nil }
    (url, localName) = (ad.string("Url") ?? NameBytes(""), ad.string("LocalFileName") ?? NameBytes(""))
    let path = AbsolutePath.of(localName)
    let isFile =
      url.utf8?.contains("://") == true && !url.bytes.contains(0x0A) && !localName.isEmpty
      && localName.bytes.last != 0x2F
    let fault = FilePair.error(
      "read ad", url.isEmpty ? localName : url, "its Url or LocalFileName does not name a file")
    let target = direction == .upload ? Self.escapingName(url, path.lastComponent) : url
    pair = FilePair(url: target, path: path, fault: isFile ? nil : fault)
  }

  /// All files of an input that is answered in `output`. Throws what ``ClassAdFile/read(_:answeredIn:)`` throws.
  package static func read(_ input: NameBytes, _ way: Direction, _ output: NameBytes) throws(TransferError) -> [Self] {
    try ClassAdFile.read(input, answeredIn: output).compactMap { CondorFile($0, way) }
  }

  /// HTCondor appends the name of a file to the URL of a folder unescaped: apparent escapes, queries and fragments
  /// there are part of the name, and are escaped here, except in a bucket. A presigned URL does not end with the name
  /// and is not changed.
  static func escapingName(_ url: NameBytes, _ name: NameBytes) -> NameBytes {
    guard !FilePair.isInBucket(url), !name.isEmpty, url.bytes.count > name.bytes.count,
      url.bytes.suffix(name.bytes.count) == name.bytes[...],
      case let folder = url.bytes.dropLast(name.bytes.count), folder.last == 0x2F
    else { return url }
    let escapes: [UInt8: String] = [0x25: "%25", 0x3F: "%3F", 0x23: "%23"]
    return NameBytes(folder + name.bytes.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] })
  }
}
