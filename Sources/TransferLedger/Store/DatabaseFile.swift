import Glibc
public import TransferModel

extension Ledger {
  /// The first bytes of every database. Source: https://sqlite.org/fileformat2.html#magic_header_string
  private static let header = Array("SQLite format 3\0".utf8)

  /// The SQLite database at a path, or the one that a file with this name would belong to (`l.db` for `l.db-wal`); nil
  /// for any other path. Blocking. Not for a ledger that this process has open: closing a file drops its locks.
  public static func database(owning path: NameBytes) -> NameBytes? { owner(of: path, isOne: isDatabase) }

  /// The ledger that has this name in a folder, or that a file with this name would belong to; nil for any other name.
  /// A ledger is recognised by the gate beside it; nothing is opened, because this process may have it open. Blocking.
  public static func ledger(owning name: NameBytes, in folder: Int32 = AT_FDCWD) -> NameBytes? {
    owner(of: name) { isFile($0, in: folder) && isFile(NameBytes($0.bytes + Array(".gate".utf8)), in: folder) }
  }

  /// A staged copy belongs to the ledger beside its folder.
  private static func owner(of name: NameBytes, isOne: (NameBytes) -> Bool) -> NameBytes? {
    let owner = fileSuffixes.lazy.compactMap { name.bytes[...].without($0) }.first(where: isOne)
    guard owner == nil, let slash = name.bytes.lastIndex(of: 0x2F) else { return owner }
    return name.bytes[..<slash].without(copiesSuffix).flatMap { isOne($0) ? $0 : nil }
  }

  private static func isFile(_ name: NameBytes, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, name.bytes.map { CChar(bitPattern: $0) } + [0], &status, 0) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }

  private static func isDatabase(_ path: NameBytes) -> Bool {
    let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    guard stat(name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: header.count)
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes == header
  }
}

extension ArraySlice<UInt8> {
  /// What precedes a suffix; nil without it.
  fileprivate func without(_ suffix: String) -> NameBytes? {
    guard self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
    return NameBytes(Array(dropLast(suffix.utf8.count)))
  }
}
