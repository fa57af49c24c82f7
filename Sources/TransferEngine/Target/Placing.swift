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
  /// Of the whole file, in bytes.
  var size: Int64
  /// Of the whole file, as it was written; nil where not every chunk has one.
  var digest: Digest?
  /// Milliseconds since 1970 UTC; nil leaves the present time.
  var modifiedMs: Int64?
  var overwrites: Bool
  var file: TargetFile?

  /// The file stands under its name with all of its bytes, durable, when this returns. May be repeated: a file that was
  /// moved before an engine could record it is known by its inode and its content.
  /// - Throws: ``partialIsGone``, `policy.exists`, `local.disk_full`, `local.io`.
  func perform() throws(Failure) {
    guard let file = try opened() else {
      guard try isPlaced() else { throw Self.partialIsGone }
      return try syncFolder()
    }
    try finish(file)
    if !overwrites { try Self.refuse(existing: names.final) }
    // Its name may have been given to another file meanwhile.
    guard try TargetFile(opening: names, file.identity) != nil else { throw Self.partialIsGone }
    try rename()
    try syncFolder()
  }

  private func opened() throws(Failure) -> TargetFile? {
    if let file { return file }
    return try TargetFile(opening: names, known)
  }

  /// The number of a removed file is given to another one: the content tells them apart.
  private func isPlaced() throws(Failure) -> Bool {
    guard known.inode != 0, let found = try? SourceFile(path: names.final), found.identity.isSameFile(as: known),
      found.identity.size == size
    else { return false }
    guard let digest else { return true }
    let whole = ByteRange(offset: 0, length: size)
    return try found.digests(of: whole, [digest.algorithm], .never)[digest.algorithm] == digest
  }

  private func finish(_ file: TargetFile) throws(Failure) {
    var status = csys_file_status()
    guard csys_status_fd(file.descriptor, &status) == 0 else {
      throw TargetFile.failure("examine the partial file", errno)
    }
    guard status.size == size else {
      throw Failure(.localIO, "the partial file has \(status.size) bytes, and all \(size) were stored")
    }
    guard fchmod(file.descriptor, 0o666 & ~csys_umask()) == 0 else {
      throw TargetFile.failure("set the permissions of the file", errno)
    }
    if let modifiedMs { setTime(file, modifiedMs) }
    guard fsync(file.descriptor) == 0 else { throw TargetFile.failure("sync the file", errno) }
  }

  /// A file system that cannot keep it is no reason to do without the file.
  private func setTime(_ file: TargetFile, _ modifiedMs: Int64) {
    let modified = timespec(tv_sec: Int(modifiedMs / 1_000), tv_nsec: Int(modifiedMs % 1_000) * 1_000_000)
    var times = [modified, modified]
    _ = futimens(file.descriptor, &times)
  }

  private func rename() throws(Failure) {
    let result = names.partial.withCString { from in
      names.final.withCString { to in overwrites ? Self.rename(from, to) : csys_rename_exclusive(from, to) }
    }
    guard result != 0 else { return }
    if errno == EEXIST { throw Self.exists }
    throw TargetFile.failure("move the file to its name", errno)
  }

  private static func rename(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 {
    #if canImport(Glibc)
      Glibc.rename(from, to)
    #else
      Darwin.rename(from, to)
    #endif
  }

  private func syncFolder() throws(Failure) {
    let descriptor = names.folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw TargetFile.failure("open the folder", errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw TargetFile.failure("sync the folder", errno) }
  }

  /// - Throws: `policy.exists` when something stands under the name, whatever it is.
  static func refuse(existing final: NameBytes) throws(Failure) {
    var status = csys_file_status()
    if final.withCString({ csys_status_at(AT_FDCWD, $0, 0, &status) }) == 0 { throw exists }
  }

  private static let exists = Failure(
    .policyExists, "there is already something under this name (--overwrite replaces it)")

  /// Somebody removed or replaced it: what was stored is lost.
  static let partialIsGone = Failure(.localIO, "the partial file is not there any more; the file is fetched anew")
}
