import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension ResolvedSources {
  /// The absolute path of the folder that sources are to be moved to, which is there, on their file system, and is not
  /// scanned with them. Blocking.
  /// - Throws: `.noSource` when it is not there, `.usage` when sources cannot be moved to it.
  public func checked(moveFolder folder: NameBytes) throws(TransferError) -> NameBytes {
    let path = SourceFound.absolute(folder)
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0, status.mode & S_IFMT == S_IFDIR else {
      throw TransferError(
        .noSource, "open the folder of --after move:", path, cause: "there is no such folder",
        remedy: "make it, on the file system of the sources")
    }
    var home = csys_file_status()
    if let base, base.withCString({ csys_status_at(AT_FDCWD, $0, 1, &home) }) == 0, home.device != status.device {
      throw TransferError(
        .usage, "move sources to", path,
        cause: "it is on another file system than they are, and they are moved by renaming",
        remedy: "name a folder on theirs")
    }
    guard !isScanned(path), home.inode != status.inode || home.device != status.device else {
      throw TransferError(
        .usage, "move sources to", path, cause: "it is among the sources, and what is moved there would be sent again",
        remedy: "name a folder elsewhere, or leave it out with --exclude")
    }
    return path
  }

  private func isScanned(_ folder: NameBytes) -> Bool {
    guard case .places(let places, _) = kind else { return false }
    return places.contains { place in
      let start = place.path.bytes == [0x2F] ? 1 : place.path.bytes.count + 1
      if folder == place.path { return true }
      guard folder.bytes.count > start, folder.bytes.starts(with: place.path.bytes), folder.bytes[start - 1] == 0x2F
      else {
        return false
      }
      // A rule that leaves out a folder on the way leaves out what is in it.
      let relative = folder.bytes[min(place.relativeStart, start)...]
      let ends = relative.indices.filter { relative[$0] == 0x2F } + [relative.endIndex]
      return !ends.contains { end in
        selection.rules.exclusion(ofDirectory: NameBytes(Array(relative[relative.startIndex..<end]))) != nil
      }
    }
  }
}
