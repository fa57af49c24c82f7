import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The names in a folder, sorted by their bytes.
enum FolderNames {
  /// Empty if the folder cannot be read.
  /// - Parameter isWanted: decides by the DT_ constant of an entry, which is DT_UNKNOWN on some file systems.
  static func of(_ folder: NameBytes, where isWanted: (Int32) -> Bool = { _ in true }) -> [NameBytes] {
    let descriptor = folder.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return read(descriptor, where: isWanted)
  }

  /// Of an open folder, from where its descriptor stands: all of a new one.
  static func read(_ descriptor: Int32, where isWanted: (Int32) -> Bool = { _ in true }) -> [NameBytes] {
    var listing = csys_listing()
    defer { csys_free_listing(&listing) }
    _ = csys_list_directory(descriptor, &listing)
    guard let names = listing.names, let entries = listing.entries else { return [] }
    return UnsafeBufferPointer(start: entries, count: listing.count).compactMap { entry in
      guard isWanted(Int32(entry.type)) else { return nil }
      return NameBytes(Array(UnsafeRawBufferPointer(start: names + Int(entry.start), count: Int(entry.length))))
    }
  }
}
