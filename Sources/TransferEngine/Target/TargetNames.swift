import TransferModel

/// The location of a file to be fetched: the folder of its batch, the relative path to its own folder, and two names in
/// that folder: its final name, and the name that it has until it is complete.
struct TargetNames: Sendable, Hashable {
  /// The folder that contains all files of the batch, absolute.
  let root: NameBytes
  /// Relative to ``root``; empty for the root itself.
  let folder: NameBytes
  private(set) var name: NameBytes
  /// `.NAME.UID.part` in the same folder, so that it can be renamed in one step; used by one generation of one file of
  /// one ledger only.
  let partial: NameBytes

  /// A name may have 255 bytes (`NAME_MAX` on Linux); the rest is the uid, two dots and the suffix.
  private static let longestPart = 255 - 39

  /// - Parameter path: absolute; a path that is not below `root` will not be found.
  /// - Parameter copy: the copied ledger that made the partial file, if its original did not.
  /// - Parameter isNamedLater: the server supplies a name, which does not change that of the partial file.
  init(
    _ path: NameBytes, below root: NameBytes, _ uid: UID, of copy: UID? = nil, isNamedLater: Bool = false
  ) {
    let below = path.bytes.starts(with: root.bytes) ? path.bytes.dropFirst(root.bytes.count) : path.bytes[...]
    let relative = below.drop { $0 == 0x2F }
    let slash = relative.lastIndex(of: 0x2F)
    self.root = root
    folder = NameBytes(slash.map { Array(relative[..<$0]) } ?? [])
    name = NameBytes(Array(relative[(slash.map { $0 + 1 } ?? relative.startIndex)...]))
    let words = [uid.high ^ (copy?.high ?? 0), uid.low ^ (copy?.low ?? 0)]
    let uidText = hexText(words.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    let shown = isNamedLater ? Array("download".utf8) : name.bytes
    partial = NameBytes([0x2E] + shown.prefix(Self.longestPart) + Array(".\(uidText).part".utf8))
  }

  /// Why no file below `root` can have this path; nil if one can.
  static func fault(in path: NameBytes, below root: NameBytes) -> String? {
    let below = path.bytes.starts(with: root.bytes) ? path.bytes.dropFirst(root.bytes.count) : path.bytes[...]
    return DownloadEntry.fault(
      in: NameBytes(Array(below.first == 0x2F && root.bytes.last != 0x2F ? below.dropFirst() : below)))
  }

  /// The same with the last component of `path` for the final name.
  func renamed(_ path: NameBytes) -> TargetNames {
    var names = self
    names.name = path.lastComponent
    return names
  }

  /// Absolute path of the final name.
  var final: NameBytes { root.appending(folder).appending(name) }

  /// ``folder`` and the folders above it below ``root``, from the top.
  var folders: [NameBytes] {
    let slashes = folder.bytes.indices.filter { folder.bytes[$0] == 0x2F }
    return slashes.map { NameBytes(Array(folder.bytes[..<$0])) } + (folder.isEmpty ? [] : [folder])
  }
}
