import CSys
import TransferLedger
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The end of a download: its partial file, of which every byte is stored, gets its final name. A value, so that it can
/// be passed between threads; blocking.
struct Placing: Sendable {
  var names: TargetNames
  /// The identity of the partial file, as recorded.
  var known: SourceIdentity
  /// The file had its final name already, and is not changed.
  var isKept = false
  /// Size of the whole file, in bytes.
  var size: Int64
  /// Digest of the whole file, as it was written; nil if not every chunk has one.
  var digest: Digest?
  /// The SHA-256 of the whole file is computed for its receipt.
  var recordsSHA256 = false
  /// Milliseconds since 1970 UTC; nil keeps the current time.
  var modifiedMs: Int64?
  /// Permissions and owner that the server has stored with the file, as far as they are to be kept.
  var access = FileAccess()
  /// Gets the reason if they may not be set.
  var refusedAccess: @Sendable (Failure) -> Void = { _ in }
  var overwrites: Bool
  var file: TargetFile?
  /// Digests that the whole file must have, and that have not been compared yet.
  var compared: [Digest] = []
  /// The same for the digests of its parts.
  var parted: PartedDigest?
  var stop = ReadStop.never
  var syncs = FileSyncs.system

  /// Whether little has to be read for it.
  var isShort: Bool { size <= LocalFiles.longestTogether || (compared.isEmpty && parted == nil && file != nil) }

  /// On return the file has its final name with all of its bytes, and is durable. Returns the identity by which it is
  /// recognised later; nil if somebody wrote to it meanwhile. May be repeated: a file that was renamed before an engine
  /// could record it is recognised by its inode and its content.
  /// - Throws: ``partialIsGone``, `integrity.mismatch`, `policy.exists`, `local.disk_full`, `local.io`,
  ///   `engine.interrupted`.
  @discardableResult
  func perform() throws(Failure) -> SourceIdentity? { try PlacingGroup.perform([self])[0].get().identity }

  /// Renaming it changes its ctime; otherwise nothing may have written to it.
  func identity(of file: TargetFile, since finished: SourceIdentity?) -> SourceIdentity? {
    guard let finished, let now = file.identityNow, now.mtimeNs == finished.mtimeNs, now.size == size else {
      return nil
    }
    return now
  }

  func opened(in folder: TargetFolder) throws(Failure) -> TargetFile? {
    if let file { return file }
    // For an empty file nothing was received, and no partial file may have been created.
    if size == 0, known.inode == 0 { return try TargetFile(making: names, syncs) }
    return try TargetFile(opening: names, in: folder, known, syncs)
  }

  /// The file that already has its final name; nil if that is another file. The inode number of a removed file may be
  /// reused, so the content is compared too.
  func placed(in folder: TargetFolder) throws(Failure) -> SourceFile? {
    guard known.inode != 0 else { return nil }
    let mode = access.mode ?? folder.replaced(names.name)?.mode ?? 0o600
    let isHidden = !isKept && mode & 0o400 == 0
    if isHidden { folder.permit(0o400, for: names.name, known) }
    guard let found = try? SourceFile(path: names.final), found.identity.isSameFile(as: known) else { return nil }
    // The open file can still be read.
    if isHidden, fchmod(found.descriptor, mode) != 0 {
      throw TargetFile.failure("set the permissions of the file", errno)
    }
    guard found.identity.size == size else { return nil }
    guard let digest else { return found }
    let whole = ByteRange(offset: 0, length: size)
    return try found.digests(of: whole, [digest.algorithm], stop)[digest.algorithm] == digest ? found : nil
  }

  /// The file is complete, and gets its owner, its permissions and its time.
  func finish(_ file: TargetFile, in folder: TargetFolder) throws(Failure) {
    var status = csys_file_status()
    guard csys_status_fd(file.descriptor, &status) == 0 else {
      throw TargetFile.failure("examine the partial file", errno)
    }
    guard status.size == size else {
      throw Failure(.localIO, "the partial file has \(status.size) bytes, but all \(size) were stored")
    }
    try compare(file)
    if let parted { try compare(file, with: parted) }
    let placed = PlacedAccess(wanted: access, descriptor: file.descriptor, refused: refusedAccess)
    try placed.apply(in: folder, replacing: overwrites ? folder.replaced(names.name) : nil)
    if let modifiedMs { setTime(file, modifiedMs) }
  }

  /// Renames the file to its final name, if it is still the file with the name of the partial file.
  func move(_ file: TargetFile, in folder: TargetFolder) throws(Failure) {
    try Self.refuse(ledger: names)
    if overwrites { try Self.refuse(others: names, in: folder) } else if folder.holds(names.name) { throw Self.exists }
    guard folder.holds(names.partial, file.identity) else { throw Self.partialIsGone }
    guard folder.place(names, replacing: overwrites) == 0 else {
      if errno == EEXIST { throw Self.exists }
      throw TargetFile.failure("rename the file to its final name", errno)
    }
  }

  /// Renames the file once more. The sync of its folder failed, and the next sync may succeed although the name is not
  /// on the disk (fsync(2)); the new rename makes the kernel write the name again.
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
      throw Failure(.integrityMismatch, "the file should have \(wanted), but the received data has \(now)")
    }
  }

  /// Reads the file part by part.
  private func compare(_ file: TargetFile, with parted: PartedDigest) throws(Failure) {
    let algorithm = parted.digest.algorithm
    var digest = RunningDigest(algorithm)
    var offset: Int64 = 0
    while offset < size {
      let part = ByteRange(offset: offset, length: min(parted.partLength, size - offset))
      try file.digests(of: part, [algorithm], stop)[algorithm]?.bytes.withUnsafeBytes { digest.update($0) }
      offset = part.end
    }
    let found = digest.finish()
    guard found != parted.digest else { return }
    throw Failure(
      .integrityMismatch,
      "the digests of its parts should have \(parted.digest), but those of the received data have \(found)")
  }

  /// Errors are ignored: a file system that cannot store the time is no reason to fail the file.
  private func setTime(_ file: TargetFile, _ modifiedMs: Int64) {
    let modified = timespec(tv_sec: Int(modifiedMs / 1_000), tv_nsec: Int(modifiedMs % 1_000) * 1_000_000)
    var times = [modified, modified]
    _ = futimens(file.descriptor, &times)
  }

  /// - Throws: `policy.exists` if anything has the final name.
  static func refuse(existing names: TargetNames, in open: inout OpenFolders) throws(Failure) {
    try refuse(ledger: names)
    guard let folder = try open.folder(of: names) else { return }
    guard folder.holds(names.name) else { return }
    try refuse(others: names, in: folder)
    throw exists
  }

  /// - Throws: `policy.exists` if anything but a regular file has the final name: a folder, a link, a FIFO.
  static func refuse(others names: TargetNames, in open: inout OpenFolders) throws(Failure) {
    try refuse(ledger: names)
    if let folder = try open.folder(of: names) { try refuse(others: names, in: folder) }
  }

  private static func refuse(others names: TargetNames, in folder: TargetFolder) throws(Failure) {
    guard let kind = folder.other(names.name) else { return }
    throw Failure(.policyExists, "\(kind) has this name, and --overwrite replaces only files")
  }

  /// - Throws: `policy.exists` when the final name is that of a ledger, or of a file that belongs to one.
  private static func refuse(ledger names: TargetNames) throws(Failure) {
    guard let ledger = Ledger.ledger(owning: names.final) else { return }
    throw Failure(.policyExists, "this is the name of a file of the ledger \(ledger.embedded)")
  }

  private static let exists = Failure(
    .policyExists, "this name already exists (--overwrite replaces it)")

  /// Somebody removed or replaced it: the stored data is lost.
  static let partialIsGone = Failure(.localIO, "the partial file no longer exists; the file is fetched again")
}
