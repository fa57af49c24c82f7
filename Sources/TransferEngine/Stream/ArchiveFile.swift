public import TransferModel
public import TransferProtocols

/// A file that gets its final name when it is complete. Until then it has no name, so that nothing is left of it
/// whatever ends the process; where the file system has no such files, it has that of a partial file. Blocking; one
/// thread at a time.
public final class ArchiveFile: StreamOutput, @unchecked Sendable {
  private let names: TargetNames
  private let target: Target
  private let file: TargetFile
  private var isNamed: Bool
  private var size: Int64 = 0

  /// Creates the file with mode 0600; its folder must exist.
  /// - Throws: `policy.exists` if the name exists, unless it `overwrites`; `local.io`.
  public convenience init(_ path: NameBytes, overwrites: Bool) throws(Failure) {
    try self.init(path, overwrites: overwrites, isNamed: false)
  }

  /// - Parameter isNamed: whether it has the name of a partial file from the beginning.
  init(_ path: NameBytes, overwrites: Bool, isNamed: Bool) throws(Failure) {
    let path = SourceFound.absolute(path)
    let slash = path.bytes.lastIndex(of: 0x2F) ?? 0
    let folder = NameBytes(slash == 0 ? [0x2F] : Array(path.bytes[..<slash]))
    var generator = SystemRandomNumberGenerator()
    let names = TargetNames(path, below: folder, UID(high: generator.next(), low: generator.next()))
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let target = Target(names, known: nothing, overwrites: overwrites)
    var open = OpenFolders()
    if overwrites {
      try Placing.refuse(others: names, in: &open)
    } else {
      try Placing.refuse(existing: names, in: &open)
    }
    (self.names, self.target) = (names, target)
    if !isNamed, let made = try target.unnamed(in: &open) {
      (file, self.isNamed) = (made, false)
      return
    }
    let made = try UnfinishedArchives.naming(names) { () throws(Failure) in
      try target.file(size: nil, holdsBytes: false, in: &open)
    }
    guard let made else { throw Placing.partialIsGone }
    (file, self.isNamed) = (made, true)
  }

  public func begin(_ head: AnswerHead) {}

  public func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    try file.write(bytes, at: size)
    size += Int64(bytes.count)
  }

  /// Gives it its final name; durable on return.
  public func place() throws(Failure) {
    if !isNamed {
      // The sync may take long: before it there is nothing to leave behind.
      try file.syncAll()
      try UnfinishedArchives.naming(names) { () throws(Failure) in try target.name(file) }
      isNamed = true
    }
    try target.placing(size: size, digest: nil, modifiedMs: nil).perform()
    UnfinishedArchives.forget(names)
  }

  /// Removes it, unless it has its final name.
  public func discard() {
    if isNamed { try? TargetFile.remove(names) }
    UnfinishedArchives.forget(names)
  }
}

/// The archives of this process that have the names of partial files. Nothing would ever remove them after its end.
package enum UnfinishedArchives {
  private struct State {
    var names: Set<TargetNames> = []
    /// The process is ending: no name may be given any more.
    var isEnding = false
  }

  private static let state = Lock(State())

  /// Gives the name and remembers it in one step, so that a signal cannot come between.
  fileprivate static func naming<Made>(
    _ names: TargetNames, _ make: () throws(Failure) -> Made
  ) throws(Failure) -> Made {
    try state.withLock { state throws(Failure) in
      guard !state.isEnding else { throw Failure(.engineInterrupted, "stopped before the archive got its name") }
      state.names.insert(names)
      return try make()
    }
  }

  fileprivate static func forget(_ names: TargetNames) { _ = state.withLock { $0.names.remove(names) } }

  /// For an early end of the process: removes the partial files, and prevents new ones.
  package static func abandon() {
    state.withLock { state in
      state.isEnding = true
      for names in state.names { _ = (try? TargetFolder(of: names))?.remove(names.partial) }
    }
  }
}
