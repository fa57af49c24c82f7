import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A command that sends or fetches files. Its `--output` may be none of them.
protocol MovesFiles: Command {
  func localPlaces(_ context: Context) -> LocalPlaces
}

/// The local files of a command besides its ledger, as typed.
struct LocalPlaces {
  /// Files, folders and patterns to send.
  var sources: [NameBytes] = []
  /// Folders for downloads.
  var targets: [NameBytes] = []
  /// Lists that are read, and archives that are written.
  var files: [NameBytes] = []
  /// The output is not a summary but the content of a download, which a person directed there.
  var isContent = false

  mutating func add(_ other: LocalPlaces) {
    sources += other.sources
    targets += other.targets
    files += other.files
    isContent = isContent || other.isContent
  }
}

/// Refuses an `--output` by which a command would replace what it sends or fetches, or a file of somebody else, before
/// anything is read or sent. The temporary file is created beside the output, so it is not among the sources either.
enum OutputGuard {
  static func check(_ output: NameBytes, of command: any Command, _ context: Context) throws(CommandFailure) {
    guard let command = command as? any MovesFiles, !output.isEmpty else { return }
    let places = command.localPlaces(context)
    let target = OutputFile.canonical(output)
    for source in places.sources { try check(output, target, source: source) }
    for folder in places.targets where isBelow(output, target, folder) {
      throw refusal(output, "lies in the folder of the downloads, \"\(folder)\"")
    }
    for file in places.files where isSame(output, target, file) {
      throw refusal(output, "is also the list or archive \"\(file)\"")
    }
    guard !places.isContent, !EarlierOutput.mayReplace(output.terminated) else { return }
    throw refusal(
      output, "exists, and is not an earlier result of such a command",
      remedy: "choose another --output, or move that file away")
  }

  private static func check(
    _ output: NameBytes, _ target: [UInt8], source: NameBytes
  ) throws(CommandFailure) {
    if isSame(output, target, source) { throw refusal(output, "is a source of this command") }
    if isBelow(output, target, source) {
      throw refusal(output, "lies below the source \"\(source)\"")
    }
    let folder = target.lastIndex(of: 0x2F).map { target[..<$0] } ?? []
    let temporary = Array(folder) + Array("/.transfers-abcdef".utf8)
    if matches(source, target) || matches(source, temporary) {
      throw refusal(output, "matches the source \"\(source)\"")
    }
  }

  private static func refusal(
    _ output: NameBytes, _ cause: String, remedy: String = "choose another --output"
  ) -> CommandFailure {
    .usage("--output \"\(output)\" \(cause)", remedy: remedy)
  }

  private static func isSame(_ output: NameBytes, _ target: [UInt8], _ file: NameBytes) -> Bool {
    OutputFile.canonical(file) == target || OutputFile.isSameFile(output, file)
  }

  /// Also in a folder that does not exist yet, which only its name identifies.
  private static func isBelow(_ output: NameBytes, _ target: [UInt8], _ folder: NameBytes) -> Bool {
    if FolderPlace.isInside(output, folder) { return true }
    let folder = withoutLastSlashes(folder)
    return !folder.isEmpty && target.starts(with: beginning(below: folder))
  }

  /// The canonical path of the folder, with a slash.
  private static func beginning(below folder: NameBytes) -> [UInt8] {
    let path = OutputFile.canonical(folder)
    return path.last == 0x2F ? path : path + [0x2F]
  }

  private static func withoutLastSlashes(_ path: NameBytes) -> NameBytes {
    var bytes = path.bytes
    while bytes.count > 1, bytes.last == 0x2F { bytes.removeLast() }
    return NameBytes(bytes)
  }

  /// Whether a pattern selects the path, or a folder above it. Asterisks cross slashes here: in doubt, the output is
  /// refused.
  private static func matches(_ source: NameBytes, _ path: [UInt8]) -> Bool {
    let pattern = withoutLastSlashes(source).bytes
    guard let wildcard = pattern.firstIndex(where: { [0x2A, 0x3F, 0x5B].contains($0) }) else { return false }
    let slash = pattern[..<wildcard].lastIndex(of: 0x2F)
    let home = slash.map { Array(pattern[...$0]) } ?? Array("./".utf8)
    let beginning = beginning(below: withoutLastSlashes(NameBytes(home)))
    guard path.starts(with: beginning) else { return false }
    let rest = pattern[(slash.map { $0 + 1 } ?? 0)...]
    let text = String(decoding: rest, as: UTF8.self).replacing("**/", with: "*")
    let names = path.dropFirst(beginning.count).split(separator: 0x2F)
    return names.indices.contains { last in
      let part = NameBytes(Array(names[...last].joined(separator: [0x2F])))
      return fnmatch(text, part.terminated, 0) == 0
    }
  }
}
