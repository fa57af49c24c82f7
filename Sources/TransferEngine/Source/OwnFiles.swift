import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Files that the program itself writes: those of a ledger, the output files of jobs, and the temporary files beside
/// them. They are not sent, because sending changes them, and their changes are no reason to run a job. They are
/// recognised by folder and name, because they are created and removed repeatedly: in a first run, the ledger is
/// created after the sources were named.
public struct OwnFiles: Sendable {
  private struct Place: Sendable {
    let folder: NameBytes
    let name: [UInt8]
    /// What the names of the files add to ``name``.
    let suffixes: [[UInt8]]

    func has(_ other: some Collection<UInt8>) -> Bool {
      other.starts(with: name)
        && suffixes.contains { $0.count == other.count - name.count && $0.elementsEqual(other.dropFirst(name.count)) }
    }
  }
  private let ledger, outputs: [Place]
  /// The files of the ledger that exist already, which may have other names, too.
  private let numbers: FileNumbers
  private static let copiesSuffix = Array(Ledger.copiesSuffix.utf8)

  /// Blocking.
  /// - Parameters:
  ///   - ledger: the path of the database.
  ///   - files: the output files of jobs.
  public init(ledger: String, files: [String] = []) {
    self.ledger = Self.places([ledger], Ledger.fileSuffixes)
    outputs = Self.places(files, [""])
    numbers = FileNumbers(Ledger.fileSuffixes.map { NameBytes(ledger + $0) })
  }

  private static func places(_ paths: [String], _ suffixes: [String]) -> [Place] {
    // Writing to a link changes its target.
    Set(paths.flatMap { [NameBytes($0), target($0)].compactMap(\.self) }).sorted().map { path in
      let path = SourceFound.absolute(path)
      return Place(
        folder: SourceFound.parent(path), name: path.lastComponent.bytes, suffixes: suffixes.map { Array($0.utf8) })
    }
  }

  /// One of these files among the sources.
  struct Found {
    /// Of a staged copy, its folder.
    let path: NameBytes
    /// Why it is not sent.
    let reason: String
  }

  /// The file of the ledger or the output file at this absolute path; nil for any other path. Blocking for a name that
  /// one of them may have: some system calls.
  func found(_ path: BorrowedName, _ identity: SourceIdentity) -> Found? {
    if let own = ofLedger(path) ?? (numbers.contains(identity) ? NameBytes(Array(path)) : nil) {
      return Found(path: own, reason: "it belongs to the ledger of this upload")
    }
    return Self.isOne(path, outputs) ? Found(path: NameBytes(Array(path)), reason: "a job writes it itself") : nil
  }

  private func ofLedger(_ path: BorrowedName) -> NameBytes? {
    if Self.isOne(path, ledger) { return NameBytes(Array(path)) }
    guard let slash = path.lastIndex(of: 0x2F), case let folder = BorrowedName(rebasing: path[..<slash]),
      folder.suffix(Self.copiesSuffix.count).elementsEqual(Self.copiesSuffix), Self.isOne(folder, ledger)
    else { return nil }
    return NameBytes(Array(folder))
  }

  private static func isOne(_ path: BorrowedName, _ places: [Place]) -> Bool {
    let start = path.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
    for place in places where place.has(path[start...]) {
      if isSame(place.folder, SourceFound.parent(NameBytes(Array(path)))) { return true }
    }
    return false
  }

  /// Whether it is one of these files, or has the name of a temporary one. Blocking for a name that one of them may
  /// have: some system calls.
  func contains(_ path: NameBytes) -> Bool {
    let isOne = path.bytes.withUnsafeBytes { ofLedger($0) != nil || Self.isOne($0, outputs) }
    let name = path.lastComponent.bytes
    return isOne
      || (ledger + outputs).contains { place in
        Self.isTemporary(name, place) && Self.isSame(place.folder, SourceFound.parent(path))
      }
  }

  /// Temporary files: those of output files and configurations (`.transfers-XXXXXX`), unnamed files on file systems
  /// without `O_TMPFILE` (`transfers-XXXXXX`), and those of the key of a ledger.
  private static func isTemporary(_ name: [UInt8], _ place: Place) -> Bool {
    if name.starts(with: Array(".transfers-".utf8)) { return true }
    if name.starts(with: Array("transfers-".utf8)), name.count == 16 { return true }
    return place.suffixes.contains { suffix in
      let own = place.name + suffix
      return name.starts(with: own + [0x2D]) && name.count == own.count + 7
    }
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
