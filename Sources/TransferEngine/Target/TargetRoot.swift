import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The open folder that contains all files of a batch; everything below it is reached from here (``TargetFolder``). It
/// is closed with its last reference. All calls block.
final class TargetRoot {
  private let descriptor: Int32

  init(_ path: NameBytes) throws(Failure) {
    descriptor = path.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    guard descriptor >= 0 else { throw TargetFile.failure("open the folder \(path.embedded)", errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// A descriptor of the folder below it, or -1 with errno. The caller closes it.
  func open(_ folder: NameBytes) -> Int32 {
    folder.withCString { csys_open_beneath(descriptor, $0, O_RDONLY | O_DIRECTORY, 0) }
  }

  /// Creates a folder below it in an existing folder, unless it exists.
  func make(_ folder: NameBytes) throws(Failure) {
    let slash = folder.bytes.lastIndex(of: 0x2F)
    let parent = open(NameBytes(Array(folder.bytes[..<(slash ?? 0)])))
    guard parent >= 0 else { throw Self.failure(folder, errno) }
    defer { close(parent) }
    let result = folder.lastComponent.withCString { mkdirat(parent, $0, 0o777) }
    guard result == 0 || errno == EEXIST else { throw Self.failure(folder, errno) }
  }

  /// Syncs the names in a folder below it. Durable on return.
  func sync(_ folder: NameBytes, _ fsync: (Int32) -> Int32) throws(Failure) {
    let opened = open(folder)
    guard opened >= 0 else { throw Self.failure(folder, errno) }
    defer { close(opened) }
    guard syncFolderNames(opened, fsync) == 0 else { throw TargetFile.failure("sync the folder", errno) }
  }

  static func failure(_ folder: NameBytes, _ code: Int32) -> Failure {
    guard code == EXDEV || code == ELOOP else {
      return TargetFile.failure("reach the folder \(folder.embedded)", code)
    }
    let text = "the folder \(folder.embedded) leads out of the target folder"
    return Failure(.localIO, text, systemError: code)
  }
}
