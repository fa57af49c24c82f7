import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The end of a download: its partial file, of which every byte is stored, gets its final name. A value, so that it
/// crosses threads; blocking.
struct Placing: Sendable {
  var names: TargetNames
  /// The partial file as it was noted.
  var known: SourceIdentity
  /// It stood under its final name before, and is not touched.
  var isKept = false
  /// Of the whole file, in bytes.
  var size: Int64
  /// Of the whole file, as it was written; nil where not every chunk has one.
  var digest: Digest?
  /// Milliseconds since 1970 UTC; nil leaves the present time.
  var modifiedMs: Int64?
  var overwrites: Bool
  var file: TargetFile?
  /// Digests that the whole file must have, and that nobody has compared yet.
  var compared: [Digest] = []
  var stop = ReadStop.never
  var syncs = FileSyncs.system

  /// Whether little has to be read for it.
  var isShort: Bool { size <= LocalFiles.longestTogether || (compared.isEmpty && file != nil) }

  /// The file stands under its name with all of its bytes, durable, when this returns: the identity by which it is
  /// known later, nil when somebody wrote to it meanwhile. May be repeated: a file that was moved before an engine
  /// could record it is known by its inode and its content.
  /// - Throws: ``partialIsGone``, `integrity.mismatch`, `policy.exists`, `local.disk_full`, `local.io`,
  ///   `engine.interrupted`.
  @discardableResult
  func perform() throws(Failure) -> SourceIdentity? { try PlacingGroup.perform([self])[0].get() }

  /// Moving it changes its ctime; nobody else may have written to it.
  func identity(of file: TargetFile, since finished: SourceIdentity?) -> SourceIdentity? {
    guard let finished, let now = file.identityNow, now.mtimeNs == finished.mtimeNs, now.size == size else {
      return nil
    }
    return now
  }

  func opened(in folder: TargetFolder) throws(Failure) -> TargetFile? {
    if let file { return file }
    // Of an empty file nothing came, and nothing may have been made.
    if size == 0, known.inode == 0 { return try TargetFile(making: names, syncs) }
    return try TargetFile(opening: names, in: folder, known, syncs)
  }

  /// The number of a removed file is given to another one: the content tells them apart. nil when it is another one.
  func placed() throws(Failure) -> SourceFile? {
    guard known.inode != 0, let found = try? SourceFile(path: names.final), found.identity.isSameFile(as: known),
      found.identity.size == size
    else { return nil }
    guard let digest else { return found }
    let whole = ByteRange(offset: 0, length: size)
    return try found.digests(of: whole, [digest.algorithm], stop)[digest.algorithm] == digest ? found : nil
  }

  /// The file is whole, and gets its permissions and its time.
  func finish(_ file: TargetFile) throws(Failure) {
    var status = csys_file_status()
    guard csys_status_fd(file.descriptor, &status) == 0 else {
      throw TargetFile.failure("examine the partial file", errno)
    }
    guard status.size == size else {
      throw Failure(.localIO, "the partial file has \(status.size) bytes, and all \(size) were stored")
    }
    try compare(file)
    guard fchmod(file.descriptor, 0o666 & ~csys_umask()) == 0 else {
      throw TargetFile.failure("set the permissions of the file", errno)
    }
    if let modifiedMs { setTime(file, modifiedMs) }
  }

  /// The file gets its name, if that is still the one that has the name of the partial file.
  func move(_ file: TargetFile, in folder: TargetFolder) throws(Failure) {
    if !overwrites, folder.holds(names.name) { throw Self.exists }
    guard folder.holds(names.partial, file.identity) else { throw Self.partialIsGone }
    guard folder.place(names, replacing: overwrites) == 0 else {
      if errno == EEXIST { throw Self.exists }
      throw TargetFile.failure("move the file to its name", errno)
    }
  }

  /// The sync of its folder failed, and the next one may succeed although the name is not on the disk (fsync(2)): the
  /// file gets its name once more, so that there is something to be written again.
  func moveAgain(_ file: TargetFile, in folder: TargetFolder) {
    guard folder.holds(names.name, file.identity), folder.takeBack(names) == 0 else { return }
    _ = folder.place(names, replacing: false)
  }

  private func compare(_ file: TargetFile) throws(Failure) {
    guard !compared.isEmpty else { return }
    let whole = ByteRange(offset: 0, length: size)
    let found = try file.digests(of: whole, Set(compared.map(\.algorithm)), stop)
    for wanted in compared {
      guard let now = found[wanted.algorithm], now != wanted else { continue }
      throw Failure(.integrityMismatch, "the file is to have \(wanted), and what came has \(now)")
    }
  }

  /// A file system that cannot keep it is no reason to do without the file.
  private func setTime(_ file: TargetFile, _ modifiedMs: Int64) {
    let modified = timespec(tv_sec: Int(modifiedMs / 1_000), tv_nsec: Int(modifiedMs % 1_000) * 1_000_000)
    var times = [modified, modified]
    _ = futimens(file.descriptor, &times)
  }

  /// - Throws: `policy.exists` when something stands under the final name, whatever it is.
  static func refuse(existing names: TargetNames, in open: inout OpenFolders) throws(Failure) {
    guard let folder = try open.folder(of: names) else { return }
    if folder.holds(names.name) { throw exists }
  }

  /// - Throws: `policy.exists` when a folder stands under the final name, which no file replaces.
  static func refuse(folder names: TargetNames, in open: inout OpenFolders) throws(Failure) {
    guard let folder = try open.folder(of: names) else { return }
    guard !folder.holdsFolder(names.name) else {
      throw Failure(.policyExists, "there is a folder under this name, and --overwrite replaces files")
    }
  }

  private static let exists = Failure(
    .policyExists, "there is already something under this name (--overwrite replaces it)")

  /// Somebody removed or replaced it: what was stored is lost.
  static let partialIsGone = Failure(.localIO, "the partial file is not there any more; the file is fetched anew")
}
