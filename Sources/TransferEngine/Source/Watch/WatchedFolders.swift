import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The folders that one inotify descriptor watches, as the trees that they are: a folder is known by its place below
/// another, so that one that is moved takes along what lies in it. Memory grows with the folders, by about their names.
struct WatchedFolders {
  private struct Folder {
    let parent: Int32?
    /// Of a root its whole path.
    let name: NameBytes
    /// Where in its path the part begins that rules are compared with; of a root only.
    let relativeStart: Int
    /// Folders in it are watched too.
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

  /// One that stood there under this name was another folder.
  /// - Returns: the folders that are to be given up for it.
  mutating func add(_ id: Int32, _ name: NameBytes, in parent: Int32) -> [Int32] {
    let before = folders[parent]?.children[name].map { remove($0) } ?? []
    folders[id] = Folder(parent: parent, name: name, relativeStart: 0, isDeep: true)
    folders[parent]?.children[name] = id
    return before
  }

  func child(_ name: NameBytes, in parent: Int32) -> Int32? { folders[parent]?.children[name] }

  /// Forgets a folder and all below it.
  /// - Returns: which they were.
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

  /// Where a folder is, and where the part of it begins that rules are compared with.
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
