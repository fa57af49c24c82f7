import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Removes the empty marker file together with its source. The marker of a whole folder is removed with the last
/// source. A marker that is not empty may be needed, and one for a stem may also mark other sources: these are kept.
struct MarkerRemoval {
  let marker: ReadyMarker
  let places: SourcePlaces

  /// - Parameter relative: the path of the source below its base; `folder` is its folder.
  func perform(_ action: SourceRemoval.Action, of relative: NameBytes, in folder: Int32) throws(Failure) {
    let mark = marker.name(of: relative.lastComponent.bytes)
    var status = csys_file_status()
    guard mark.withCString({ csys_status_at(folder, $0, 0, &status) }) == 0, status.mode & S_IFMT == S_IFREG,
      status.size == 0, !marker.isOfStem, !marker.isOfFolder || Self.holdsNothing(folder, but: mark)
    else { return }
    if action == .move {
      let target = try places.newFolder(of: relative)
      _ = mark.withCString { csys_rename_exclusive_at(folder, $0, target, $0) }
      return
    }
    guard mark.withCString({ unlinkat(folder, $0, 0) }) == 0 || errno == ENOENT else {
      throw SourcePlaces.failure("delete its marker file", errno)
    }
  }

  private static func holdsNothing(_ folder: Int32, but mark: NameBytes) -> Bool {
    let descriptor = csys_open_directory(folder, ".", 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return FolderNames.read(descriptor).allSatisfy { $0 == mark }
  }
}
