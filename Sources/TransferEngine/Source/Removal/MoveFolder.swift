import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension ResolvedSources {
  /// Checks the folder that sources are to be moved to: it must exist, be on their file system, and not be scanned with
  /// them. Returns its absolute path. Blocking.
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
    guard !isScanned(path), home.inode != status.inode || home.device != status.device else {
      throw Self.amongSources(path)
    }
    return path
  }

  public static func amongSources(_ folder: NameBytes) -> TransferError {
    TransferError(
      .usage, "move sources to", folder, cause: "it is among the sources, so files moved there would be sent again",
      remedy: "name a folder elsewhere, or exclude it with --exclude")
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
  /// Whether a folder is among the named sources by its name; the sources need not exist.
  public func contains(folder: NameBytes) -> Bool {
    let paths = sources.filter { !SourcePattern.isOne($0) }.map(SourceFound.absolute)
    let home = paths.count == 1 ? paths[0] : Self.shared(paths.map(SourceFound.parent))
    let shared = base.map(SourceFound.absolute) ?? home
    let places = paths.map { path in
      SourcePlace(path: path, relativeStart: min(path.bytes.count, shared.bytes.count) + 1)
    }
    return ResolvedSources(self, .places(places, isSingleFile: false), base: shared)
      .isScanned(SourceFound.absolute(folder))
  }
}
