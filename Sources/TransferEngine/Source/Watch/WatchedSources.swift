import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The sources of a job that are to be watched, with the job's rules.
public struct WatchedSources: Sendable {
  /// As typed: files, folders and patterns.
  let sources: [NameBytes]
  let base: NameBytes?
  let rules: PathRules
  let followsSymlinks: Bool
  let marker: ReadyMarker?
  let ownFiles: OwnFiles?

  /// - Parameter ownFiles: files whose changes are no reason for a scan; nil for none.
  public init(_ selection: SourceSelection, marker: ReadyMarker?, ownFiles: OwnFiles? = nil) {
    sources = selection.sources
    base = selection.base.map(SourceFound.absolute)
    rules = selection.rules
    followsSymlinks = selection.followsSymlinks
    self.marker = marker
    self.ownFiles = ownFiles
  }

  /// A folder where watching begins.
  struct Root: Hashable {
    let path: NameBytes
    let relativeStart: Int
    /// Includes all subfolders; otherwise the folder contains a source, or may contain matches of a pattern.
    let isDeep: Bool
  }

  /// The folders that are sources, and those that contain sources. Missing ones are omitted. Blocking.
  func roots() -> [Root] {
    var (folders, homes): ([NameBytes], [NameBytes]) = ([], [])
    var shared: [NameBytes] = []
    for source in sources {
      if SourcePattern.isOne(source), Self.status(source) == nil {
        homes += SourcePattern(source, followsLinks: followsSymlinks).places().map(SourceFound.absolute)
      }
      guard let found = try? SourceFound(source, isAlone: false, followsLinks: followsSymlinks) else { continue }
      shared.append(found.home)
      for path in found.paths {
        if Self.isFolder(path) { folders.append(path) } else { homes.append(SourceFound.parent(path)) }
      }
    }
    let isOneFolder = sources.count == 1 && folders.count == 1 && homes.isEmpty
    let base = base ?? (isOneFolder ? folders[0] : SourceSelection.shared(shared))
    let deep = folders.map { path in
      let start = try? SourceSelection.relativeStart(path, below: base)
      return Root(path: path, relativeStart: start ?? path.bytes.count + 1, isDeep: true)
    }
    return deep + homes.map { Root(path: $0, relativeStart: $0.bytes.count + 1, isDeep: false) }
  }

  /// Identifies what the typed names refer to, so that appeared, removed or mounted sources are detected. Blocking:
  /// some system calls.
  func standing() -> [String] {
    sources.map { source in
      let place = SourcePattern.isOne(source) && Self.status(source) == nil ? SourcePattern(source).folder : source
      guard let status = Self.status(place) else { return "none" }
      // A file may be replaced each time it is written.
      return status.isFolder ? "folder \(status.device) \(status.inode)" : "file"
    }
  }

  /// Whether something that appears at a path can be a reason for a scan.
  func concerns(_ path: NameBytes, relativeStart: Int, isFolder: Bool) -> Bool {
    if !isFolder, isOwn(path) { return false }
    if !isFolder, let marker, marker.isMarker(path.lastComponent.bytes) { return true }
    guard relativeStart <= path.bytes.count else { return true }
    let relative = NameBytes(Array(path.bytes[relativeStart...]))
    return (isFolder ? rules.exclusion(ofDirectory: relative) : rules.exclusion(ofFile: relative)) == nil
  }

  /// Whether the program itself writes the file at this path.
  func isOwn(_ path: NameBytes) -> Bool { ownFiles?.contains(path) ?? false }

  /// Whether a folder, or a link to one, exists at this path. Blocking.
  static func isFolder(_ path: NameBytes) -> Bool { status(path)?.isFolder ?? false }

  private static func status(_ path: NameBytes) -> (isFolder: Bool, device: UInt64, inode: UInt64)? {
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 else { return nil }
    return (status.mode & S_IFMT == S_IFDIR, status.device, status.inode)
  }
}
