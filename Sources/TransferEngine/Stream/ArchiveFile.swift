public import TransferModel
public import TransferProtocols

/// A file that gets its final name when it is complete. Blocking; one thread at a time.
public final class ArchiveFile: StreamOutput, @unchecked Sendable {
  private let names: TargetNames
  private let target: Target
  private let file: TargetFile
  private var size: Int64 = 0

  /// Creates the partial file with mode 0600; its folder must exist.
  /// - Throws: `policy.exists` if the name exists, unless it `overwrites`; `local.io`.
  public init(_ path: NameBytes, overwrites: Bool) throws(Failure) {
    let path = SourceFound.absolute(path)
    let slash = path.bytes.lastIndex(of: 0x2F) ?? 0
    let folder = NameBytes(slash == 0 ? [0x2F] : Array(path.bytes[..<slash]))
    var generator = SystemRandomNumberGenerator()
    names = TargetNames(path, below: folder, UID(high: generator.next(), low: generator.next()))
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    target = Target(names, known: nothing, overwrites: overwrites)
    var open = OpenFolders()
    if overwrites {
      try Placing.refuse(others: names, in: &open)
    } else {
      try Placing.refuse(existing: names, in: &open)
    }
    guard let made = try target.file(size: nil, holdsBytes: false, in: &open) else { throw Placing.partialIsGone }
    file = made
  }

  public func begin(_ head: AnswerHead) {}

  public func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    try file.write(bytes, at: size)
    size += Int64(bytes.count)
  }

  /// Renames it to its final name; durable on return.
  public func place() throws(Failure) { try target.placing(size: size, digest: nil, modifiedMs: nil).perform() }

  /// Removes it.
  public func discard() { try? TargetFile.remove(names) }
}
