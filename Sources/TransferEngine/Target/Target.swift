import TransferModel

/// The local end of a download: its names, and its partial file, opened or made by the first thread that asks for it.
final class Target: Sendable {
  let names: TargetNames
  /// The partial file as the ledger knew it when the file was claimed; its inode is 0 where there was none.
  private let known: SourceIdentity
  let overwrites: Bool
  /// Its server gives it a name, which is not known yet.
  let isNamedLater: Bool
  private let isSparse: Bool
  private let syncs: FileSyncs
  private let opened = Lock<TargetFile?>(nil)
  private let kept = Lock<SourceIdentity?>(nil)

  init(
    _ names: TargetNames, known: SourceIdentity, overwrites: Bool, isSparse: Bool = false, isNamedLater: Bool = false,
    _ syncs: FileSyncs = .system
  ) {
    (self.names, self.known, self.overwrites, self.isSparse) = (names, known, overwrites, isSparse)
    (self.isNamedLater, self.syncs) = (isNamedLater, syncs)
  }

  /// The partial file with room for `size` bytes; with nil it is emptied, before it is known how large it becomes.
  /// Blocking. nil when it is gone although it `holdsBytes`.
  func file(size: Int64?, holdsBytes: Bool) throws(Failure) -> TargetFile? {
    var open = OpenFolders()
    return try file(size: size, holdsBytes: holdsBytes, in: &open)
  }

  /// The same in a folder that may be open.
  func file(size: Int64?, holdsBytes: Bool, in open: inout OpenFolders) throws(Failure) -> TargetFile? {
    try opened.withLock { opened throws(Failure) in
      if opened == nil, known.inode != 0, let folder = try open.folder(of: names) {
        opened = try TargetFile(opening: names, in: folder, known, isSparse: isSparse, syncs)
      }
      if opened == nil, !holdsBytes {
        let folder = try open.making(folderOf: names)
        opened = try TargetFile(making: names, in: folder, isSparse: isSparse, syncs)
        // Nothing is in it that could be of an earlier body.
        if size == nil { return opened }
      }
      if let size { try opened?.reserve(size) } else { try opened?.empty() }
      return opened
    }
  }

  /// The file that stands under the final name; nil when there is none that could be read. Blocking.
  func standing() -> TargetFile? {
    guard let folder = try? TargetFolder(of: names) else { return nil }
    return try? TargetFile(placed: names, in: folder, syncs)
  }

  /// The file under the final name has all that is to be fetched.
  func keeps(_ standing: SourceIdentity) { kept.withLock { $0 = standing } }

  /// The final name is on the disk when this returns, with the folders that lead to it. Blocking.
  func syncNames() throws(Failure) {
    guard let folder = try TargetFolder(of: names) else { throw Placing.partialIsGone }
    try folder.sync()
  }

  /// What stands under the final name stays: nothing is left of a partial file when this returns.
  func removePartial() throws(Failure) {
    guard let folder = try TargetFolder(of: names), folder.remove(names.partial) == 0 else { return }
    try folder.syncNames()
  }

  /// Moves it to its final name. `compared` are digests that it must have, read for that.
  /// - Parameter path: of the final name, in the same folder; nil for the name that it has.
  func placing(
    at path: NameBytes? = nil, size: Int64, digest: Digest?, modifiedMs: Int64?, compared: [Digest] = [],
    _ stop: ReadStop = .never
  ) -> Placing {
    let (file, kept) = (opened.withLock { $0 }, kept.withLock { $0 })
    return Placing(
      names: path.map(names.renamed) ?? names, known: kept ?? file?.identity ?? known, isKept: kept != nil, size: size,
      digest: digest,
      modifiedMs: modifiedMs,
      overwrites: overwrites, file: kept == nil ? file : nil, compared: compared, stop: stop, syncs: syncs)
  }
}
