import TransferModel

/// The local end of a download: its names, and its partial file, opened or made by the first thread that asks for it.
final class Target: Sendable {
  let names: TargetNames
  /// The partial file as the ledger knew it when the file was claimed; its inode is 0 where there was none.
  private let known: SourceIdentity
  let overwrites: Bool
  private let opened = Lock<TargetFile?>(nil)

  init(_ names: TargetNames, known: SourceIdentity, overwrites: Bool) {
    (self.names, self.known, self.overwrites) = (names, known, overwrites)
  }

  /// The partial file with room for `size` bytes. Blocking. nil when it is gone although it `holdsBytes`.
  func file(size: Int64, holdsBytes: Bool) throws(Failure) -> TargetFile? {
    try opened.withLock { opened throws(Failure) in
      if let opened { return opened }
      if known.inode != 0, let file = try TargetFile(opening: names, known) {
        opened = file
      } else if !holdsBytes {
        opened = try TargetFile(making: names, size: size)
      }
      return opened
    }
  }

  /// Moves it to its final name.
  func placing(size: Int64, digest: Digest?, modifiedMs: Int64?) -> Placing {
    let file = opened.withLock { $0 }
    return Placing(
      names: names, known: file?.identity ?? known, size: size, digest: digest, modifiedMs: modifiedMs,
      overwrites: overwrites, file: file)
  }
}
