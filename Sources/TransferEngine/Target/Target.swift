import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The local end of a download: its names, and its partial file, opened or created by the first thread that needs it.
final class Target: Sendable {
  let names: TargetNames
  /// The partial file as recorded in the ledger when the file was claimed; its inode is 0 if there was none.
  private let known: SourceIdentity
  let overwrites: Bool
  /// The server supplies a name, which is not known yet.
  let isNamedLater: Bool
  private let isSparse: Bool
  /// Whether the SHA-256 of the file is computed for its receipt.
  let recordsSHA256 = Lock(false)
  private let syncs: FileSyncs
  private let opened = Lock<TargetFile?>(nil)
  private let kept = Lock<SourceIdentity?>(nil)
  /// The owner or permissions that were to be kept, and may not be set.
  let refusedAccess = Lock<Failure?>(nil)

  init(
    _ names: TargetNames, known: SourceIdentity, overwrites: Bool, isSparse: Bool = false, isNamedLater: Bool = false,
    _ syncs: FileSyncs = .system
  ) {
    (self.names, self.known, self.overwrites, self.isSparse) = (names, known, overwrites, isSparse)
    (self.isNamedLater, self.syncs) = (isNamedLater, syncs)
  }

  /// The partial file with space for `size` bytes; nil empties it, while its final size is unknown. Blocking. Returns
  /// nil if the partial file no longer exists although it `holdsBytes`.
  func file(size: Int64?, holdsBytes: Bool) throws(Failure) -> TargetFile? {
    var open = OpenFolders()
    return try file(size: size, holdsBytes: holdsBytes, in: &open)
  }

  /// The same in a folder that may be open already.
  func file(size: Int64?, holdsBytes: Bool, in open: inout OpenFolders) throws(Failure) -> TargetFile? {
    try opened.withLock { opened throws(Failure) in
      if opened == nil, known.inode != 0, let folder = try open.folder(of: names) {
        opened = try TargetFile(opening: names, in: folder, known, isSparse: isSparse, syncs)
      }
      if opened == nil, !holdsBytes {
        let folder = try open.making(folderOf: names)
        opened = try TargetFile(making: names, in: folder, isSparse: isSparse, syncs)
        // It contains nothing from an earlier body.
        if size == nil { return opened }
      }
      if let size { try opened?.reserve(size) } else { try opened?.empty() }
      return opened
    }
  }

  /// A partial file without a name, which disappears with the process unless it gets one; nil if the file system has
  /// no such files. Its folder must exist. Blocking.
  func unnamed(in open: inout OpenFolders) throws(Failure) -> TargetFile? {
    guard let folder = try open.folder(of: names), let made = try TargetFile(unnamed: names, in: folder, syncs) else {
      return nil
    }
    opened.withLock { $0 = made }
    return made
  }

  /// Gives it the name of the partial file. Blocking.
  func name(_ file: TargetFile) throws(Failure) {
    guard let folder = try TargetFolder(of: names), folder.link(file.descriptor, as: names.partial) == 0 else {
      throw TargetFile.failure("name the file", errno)
    }
  }

  /// The file with the final name; nil if there is none that can be read. Blocking.
  func standing() -> TargetFile? {
    guard let folder = try? TargetFolder(of: names) else { return nil }
    return try? TargetFile(placed: names, in: folder, syncs)
  }

  /// The file with the final name has all of the data to be fetched.
  func keeps(_ standing: SourceIdentity) { kept.withLock { $0 = standing } }

  /// Syncs the final name, and the folders that lead to it. Durable on return. Blocking.
  func syncNames() throws(Failure) {
    guard let folder = try TargetFolder(of: names) else { throw Placing.partialIsGone }
    try folder.sync()
  }

  /// Removes the partial file; the file with the final name stays. Durable on return.
  func removePartial() throws(Failure) {
    guard let folder = try TargetFolder(of: names), folder.remove(names.partial) == 0 else { return }
    try folder.syncNames()
  }

  /// Whether there was a partial file when the file was claimed, or it was made since.
  var mayHavePartial: Bool { known.inode != 0 || opened.withLock { $0 != nil } }

  /// Removes the partial file if it has no data. This need not be durable: if the name reappears after a power failure,
  /// the file is used. Blocking.
  func removeUnused() {
    opened.withLock { opened in
      guard let folder = try? TargetFolder(of: names),
        let file = opened ?? (try? TargetFile(opening: names, in: folder, known, syncs)),
        file.hasNoData, folder.holds(names.partial, file.identity)
      else { return }
      _ = folder.remove(names.partial)
    }
  }

  /// The order to rename it to its final name. `compared` are digests that it must have, for which it is read.
  /// - Parameter path: the final name, in the same folder; nil for the recorded name.
  func placing(
    at path: NameBytes? = nil, size: Int64, digest: Digest?, modifiedMs: Int64?, access: FileAccess = FileAccess(),
    compared: [Digest] = [], parted: PartedDigest? = nil, _ stop: ReadStop = .never
  ) -> Placing {
    let (file, kept) = (opened.withLock { $0 }, kept.withLock { $0 })
    var placing = Placing(
      names: path.map(names.renamed) ?? names, known: kept ?? file?.identity ?? known, isKept: kept != nil, size: size,
      digest: digest, recordsSHA256: recordsSHA256.withLock { $0 },
      modifiedMs: modifiedMs,
      overwrites: overwrites, file: kept == nil ? file : nil, compared: compared, stop: stop, syncs: syncs)
    (placing.access, placing.parted) = (access, parted)
    placing.refusedAccess = { [self] refused in refusedAccess.withLock { $0 = refused } }
    return placing
  }
}
