import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension ResolvedSources {
  /// Checks the folder that sources are to be moved to: it must exist, be on their file system and below the same mount
  /// of it, take files, and not be scanned with them. Returns its absolute path. Blocking.
  /// - Throws: `.noSource` if it does not exist; `.usage` if sources cannot be moved to it.
  public func checked(moveFolder folder: NameBytes) throws(TransferError) -> NameBytes {
    let path = SourceFound.absolute(folder)
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0, status.mode & S_IFMT == S_IFDIR else {
      throw TransferError(
        .noSource, "open the folder of --after move:", path, cause: "there is no such folder",
        remedy: "create it on the file system of the sources")
    }
    var home = csys_file_status()
    if let base, base.withCString({ csys_status_at(AT_FDCWD, $0, 1, &home) }) == 0, home.device != status.device {
      throw TransferError(
        .usage, "move sources to", path,
        cause: "it is on another file system than the sources, which are moved by renaming",
        remedy: "name a folder on the file system of the sources")
    }
    if let base, let here = MountNumber(base), let there = MountNumber(path), here != there {
      throw TransferError(
        .usage, "move sources to", path,
        cause: "it is on another mount than the sources (a bind mount, perhaps), and rename(2) does not cross mounts",
        remedy: "name a folder below the mount of the sources")
    }
    guard path.withCString({ faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) }) == 0 else {
      throw TransferError(
        .usage, "move sources to", path, cause: "it takes no files: \(systemText(errno))",
        remedy: "make it writable, or name another folder on the file system of the sources")
    }
    let isBase = home.inode == status.inode && home.device == status.device
    guard !isBase, !isScanned(path), !isScannedUnderOtherName(path) else {
      throw Self.amongSources(path)
    }
    return path
  }

  public static func amongSources(_ folder: NameBytes) -> TransferError {
    TransferError(
      .usage, "move sources to", folder, cause: "it is among the sources, so files moved there would be sent again",
      remedy: "name a folder elsewhere, or exclude it with --exclude")
  }

  /// The same where symbolic links lead: the scan follows those that are sources, and the folder may be one or be below
  /// one.
  fileprivate func isScannedUnderOtherName(_ folder: NameBytes) -> Bool {
    guard case .places(let places, _) = kind, let real = folder.withCString({ realpath($0, nil) }) else { return false }
    defer { free(real) }
    let path = Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
    var known: [FolderNumber: [NameBytes]] = [:]
    for place in places {
      if let number = FolderNumber(place.path) { known[number, default: []].append(place.path) }
    }
    // The folder itself, and those above it.
    let ends = [path.count] + path.indices.reversed().filter { path[$0] == 0x2F }
    return ends.contains { end in
      guard let number = FolderNumber(end == 0 ? NameBytes("/") : NameBytes(Array(path[..<end]))) else { return false }
      let below = NameBytes(Array(path[end...].drop { $0 == 0x2F }))
      return (known[number] ?? []).contains { isScanned($0.appending(below)) }
    }
  }

  fileprivate func isScanned(_ folder: NameBytes) -> Bool {
    guard case .places(let places, _) = kind else { return false }
    return places.contains { place in
      let start = place.path.bytes == [0x2F] ? 1 : place.path.bytes.count + 1
      if folder == place.path { return true }
      guard folder.bytes.count > start, folder.bytes.starts(with: place.path.bytes), folder.bytes[start - 1] == 0x2F
      else {
        return false
      }
      // A rule that excludes a folder in the path also excludes its contents.
      let relative = folder.bytes[min(place.relativeStart, start)...]
      let ends = relative.indices.filter { relative[$0] == 0x2F } + [relative.endIndex]
      return !ends.contains { end in
        selection.rules.exclusion(ofDirectory: NameBytes(Array(relative[relative.startIndex..<end]))) != nil
      }
    }
  }
}

extension SourceSelection {
  /// Whether a folder is among the named sources, by its name or through symbolic links; neither need exist.
  public func contains(folder: NameBytes) -> Bool {
    let paths = sources.filter { !SourcePattern.isOne($0) }.map(SourceFound.absolute)
    let home = paths.count == 1 ? paths[0] : Self.shared(paths.map(SourceFound.parent))
    let shared = base.map(SourceFound.absolute) ?? home
    let places = paths.map { path in
      SourcePlace(path: path, relativeStart: min(path.bytes.count, shared.bytes.count) + 1)
    }
    let resolved = ResolvedSources(self, .places(places, isSingleFile: false), base: shared)
    let path = SourceFound.absolute(folder)
    return resolved.isScanned(path) || resolved.isScannedUnderOtherName(path)
  }
}

/// The mount by which a folder is reached. Two mounts of one file system have the same device number, but a rename
/// between them fails (EXDEV, rename(2)).
private struct MountNumber: Equatable {
  private let text: String

  /// nil if it is not known: /proc is not mounted, or the folder cannot be read.
  init?(_ folder: NameBytes) {
    let opened = folder.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    let facts = open("/proc/self/fdinfo/\(opened)", O_RDONLY | O_CLOEXEC)
    guard facts >= 0 else { return nil }
    defer { close(facts) }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = read(facts, &bytes, bytes.count)
    let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix("mnt_id:") }) else { return nil }
    text = String(line)
  }
}
