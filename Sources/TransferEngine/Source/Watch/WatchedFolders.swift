import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The folders that one inotify descriptor watches, as trees: a folder is stored under its parent, so that moving a
/// folder also moves its contents. Memory grows with the number of folders, by about the length of their names.
struct WatchedFolders {
  private struct Folder {
    let parent: Int32?
    /// The name in its parent; the whole path for a root.
    let name: NameBytes
    /// The offset in its path of the part to which rules are applied; only for a root.
    let relativeStart: Int
    /// Subfolders are watched too.
    let isDeep: Bool
    var children: [NameBytes: Int32] = [:]
  }

  private var folders: [Int32: Folder] = [:]

  var count: Int { folders.count }

  func knows(_ id: Int32) -> Bool { folders[id] != nil }
  func isRoot(_ id: Int32) -> Bool { folders[id].map { $0.parent == nil } ?? false }
  func isDeep(_ id: Int32) -> Bool { folders[id]?.isDeep ?? false }

  mutating func addRoot(_ id: Int32, _ path: NameBytes, relativeStart: Int, isDeep: Bool) {
    folders[id] = Folder(parent: nil, name: path, relativeStart: relativeStart, isDeep: isDeep)
  }

  /// Adds a folder. An existing folder of this name was another one.
  /// - Returns: the folders that are no longer to be watched.
  mutating func add(_ id: Int32, _ name: NameBytes, in parent: Int32) -> [Int32] {
    let before = folders[parent]?.children[name].map { remove($0) } ?? []
    folders[id] = Folder(parent: parent, name: name, relativeStart: 0, isDeep: true)
    folders[parent]?.children[name] = id
    return before
  }

  func child(_ name: NameBytes, in parent: Int32) -> Int32? { folders[parent]?.children[name] }

  /// Removes a folder and everything below it.
  /// - Returns: the removed folders.
  mutating func remove(_ id: Int32) -> [Int32] {
    guard let folder = folders[id] else { return [] }
    if let parent = folder.parent, folders[parent]?.children[folder.name] == id {
      folders[parent]?.children[folder.name] = nil
    }
    var (removed, rest): ([Int32], [Int32]) = ([], [id])
    while let next = rest.popLast() {
      guard let folder = folders.removeValue(forKey: next) else { continue }
      removed.append(next)
      rest += folder.children.values
    }
    return removed
  }

  /// The path of a folder, and the offset of the part to which rules are applied.
  func place(of id: Int32) -> (path: NameBytes, relativeStart: Int)? {
    var (names, next): ([NameBytes], Int32?) = ([], id)
    while let id = next {
      guard let folder = folders[id] else { return nil }
      next = folder.parent
      if next == nil {
        return (names.reversed().reduce(folder.name) { $0.appending($1) }, folder.relativeStart)
      }
      names.append(folder.name)
    }
    return nil
  }
}
