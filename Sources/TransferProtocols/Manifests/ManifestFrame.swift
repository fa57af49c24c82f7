import TransferModel

/// The first and the last line of our manifests in JSON lines, which show whether a manifest is complete or truncated.
/// Manifests of other programs have neither.
///
///     {"manifest":"transfers.manifest/1"}
///     {"path":"a/b.bam","size":123,"sha256":"…"}
///     {"end":"transfers.manifest/1","files":1,"bytes":123}
struct ManifestFrame {
  static let schema = "transfers.manifest/1"
  /// Of each version.
  static let beginning = "{\"manifest\":\"transfers.manifest/"

  private var isOpen = false
  private var isClosed = false
  private var files: Int64 = 0
  private var bytes: Int64 = 0
  private var isFirst = true

  /// Whether the line was part of the frame, not an entry.
  mutating func takes(_ line: JSONValue) throws(ManifestFault) -> Bool {
    defer { isFirst = false }
    if isClosed { throw ManifestFault("there is text after the end of the manifest", "remove it") }
    if isFirst, case .string(let name)? = line["manifest"] {
      guard name == Self.schema else {
        throw ManifestFault("it is a manifest in the format \(ManifestFault.shown(name.utf8))", "use a newer transfers")
      }
      isOpen = true
      return true
    }
    guard isOpen, line["end"] == .string(Self.schema) else { return false }
    guard line["files"] == .int(files), line["bytes"] == .int(bytes) else {
      throw ManifestFault(
        "its last line does not match the listed files and bytes (\(files) files, \(bytes) bytes)",
        "create the manifest again: lines are missing or added")
    }
    isClosed = true
    return true
  }

  mutating func count(_ size: Int64?) {
    files += 1
    bytes +|= size ?? 0
  }

  /// It has begun, and its last line has not been read yet.
  var isUnfinished: Bool { isOpen && !isClosed }

  func end() throws(ManifestFault) {
    guard isUnfinished else { return }
    throw ManifestFault("the manifest is cut off: its last line is missing", "copy it again")
  }
}
