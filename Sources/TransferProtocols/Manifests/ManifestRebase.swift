public import TransferModel

/// Moves the paths of a manifest from one folder to another, for a host that sees the tree elsewhere. Whole components
/// are compared: `a` is above `a/x` and not above `ab`. URLs do not change.
public struct ManifestRebase: Sendable {
  private let old, new: [UInt8]

  /// Folders as in a manifest; trailing slashes make no difference, and `.` is the root of all paths.
  /// - Throws: `.usage` for a folder that no path of a manifest can be below.
  public init(from old: NameBytes, to new: NameBytes) throws(TransferError) {
    (self.old, self.new) = (try Self.folder(old, "--from"), try Self.folder(new, "--to"))
  }

  /// The entry with its new path; nil if it is not below the old folder. A file that was fetched by its path is still
  /// fetched from the old path.
  public func entry(_ entry: ManifestEntry) -> ManifestEntry? {
    guard entry.path.bytes.starts(with: old), entry.path.bytes.count > old.count else { return nil }
    var moved = entry
    moved.path = NameBytes(new + entry.path.bytes[old.count...])
    return moved
  }

  /// With a trailing slash; empty for the root.
  private static func folder(_ text: NameBytes, _ option: String) throws(TransferError) -> [UInt8] {
    guard text.bytes.first != 0x2F else {
      throw TransferError(
        .usage, "read \(option)", text, cause: "it is absolute, and paths in a manifest are relative",
        remedy: "give it relative to the root of the manifest, which is \".\"")
    }
    let parts = text.bytes.split(separator: 0x2F)
    if text.bytes.elementsEqual([0x2E]) { return [] }
    let path = Array(parts.joined(separator: [0x2F]))
    do throws(ManifestFault) {
      _ = try path.withUnsafeBufferPointer { bytes throws(ManifestFault) in
        try ManifestPath.read(UnsafeRawBufferPointer(bytes), hasEscapedLineEnds: true)
      }
    } catch {
      throw TransferError(.usage, "read \(option)", text, cause: error.cause, remedy: error.remedy)
    }
    return path + [0x2F]
  }
}
