import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Files that the program itself writes while jobs run, so that their changes are no reason to run a job: those of a
/// ledger, the output files of jobs, and the temporary files beside them. They are recognised by folder and name,
/// because they are created and removed repeatedly.
public struct OwnFiles: Sendable {
  private struct Place: Sendable {
    let folder: NameBytes
    let name: [UInt8]
  }
  private let places: [Place]

  /// - Parameters:
  ///   - ledger: the path of the database.
  ///   - files: the output files of jobs.
  public init(ledger: String, files: [String] = []) {
    let named = Ledger.fileSuffixes.map { ledger + $0 } + files
    // Writing to a link changes its target.
    places = Set(named.flatMap { [NameBytes($0), Self.target($0)].compactMap(\.self) }).sorted().map {
      Place(folder: SourceFound.parent(SourceFound.absolute($0)), name: $0.lastComponent.bytes)
    }
  }

  /// Blocking: some system calls for a name that one of the files may have.
  func contains(_ path: NameBytes) -> Bool {
    let name = path.lastComponent.bytes
    return places.contains { place in
      Self.isOne(name, place) && Self.isSame(place.folder, SourceFound.parent(path))
    }
  }

  /// Temporary files: those of output files and configurations (`.transfers-XXXXXX`), unnamed files on file systems
  /// without `O_TMPFILE` (`transfers-XXXXXX`), and those of the key of a ledger.
  private static func isOne(_ name: [UInt8], _ place: Place) -> Bool {
    name == place.name || name.starts(with: Array(".transfers-".utf8))
      || name.starts(with: Array("transfers-".utf8)) && name.count == 16
      || name.starts(with: place.name + [0x2D]) && name.count == place.name.count + 7
  }

  private static func isSame(_ a: NameBytes, _ b: NameBytes) -> Bool {
    if a == b { return true }
    var (first, second) = (csys_file_status(), csys_file_status())
    guard a.withCString({ csys_status_at(AT_FDCWD, $0, 1, &first) }) == 0,
      b.withCString({ csys_status_at(AT_FDCWD, $0, 1, &second) }) == 0
    else { return false }
    return first.device == second.device && first.inode == second.inode
  }

  private static func target(_ path: String) -> NameBytes? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return NameBytes(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
  }
}
