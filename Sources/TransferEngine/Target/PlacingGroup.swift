import TransferModel

/// Partial files that get their final names together. All disk operations of a step are started before any of them is
/// waited for, so that a file system writes its journal once for all of them, and each folder is synced once. The order
/// for each file is the same as for a single file: all of it is on the disk before it is renamed, its name is on the
/// disk before the result is reported, and a failure of one file does not affect the others.
struct PlacingGroup {
  private var members: [Member]

  /// See ``Placing/perform()``. Blocking.
  /// - Returns: the result for each of them, in order.
  static func perform(
    _ placings: [Placing], _ syncs: FolderSyncs = FolderSyncs()
  ) -> [Result<Placed, Failure>] {
    var group = PlacingGroup(members: placings.map { Member(placing: $0) })
    var (open, syncs) = (OpenFolders(), syncs)
    group.each { member throws(Failure) in try member.finish(&open) }
    group.each { member throws(Failure) in try member.sync() }
    group.each { member throws(Failure) in try member.move() }
    group.each { member throws(Failure) in try member.syncFolder(&syncs) }
    return group.members.map(\.result)
  }

  private mutating func each(_ step: (inout Member) throws(Failure) -> Void) {
    for index in members.indices where members[index].failure == nil {
      do throws(Failure) { try step(&members[index]) } catch { members[index].failure = error }
    }
  }
}

extension Placing {
  /// The whole file is read for its SHA-256, which takes long.
  var isReadForLong: Bool { recordsSHA256 && size > LocalFiles.longestTogether }

  /// SHA-256 of the file, which is complete, if it is recorded.
  fileprivate func sha256(of file: some ReadableFile) throws(Failure) -> Digest? {
    guard recordsSHA256 else { return nil }
    return try file.digests(of: ByteRange(offset: 0, length: size), [.sha256], stop)[.sha256]
  }
}

/// A file that has its final name.
struct Placed: Sendable {
  /// By which it is recognised later; nil if somebody wrote to it meanwhile.
  var identity: SourceIdentity?
  /// SHA-256 of its content, if that is recorded.
  var sha256: Digest?
}

private struct Member {
  let placing: Placing
  var folder: TargetFolder?
  /// nil if the file has its final name already.
  var file: TargetFile?
  /// The identity of the file when all of it was on the disk.
  var finished: SourceIdentity?
  var sha256: Digest?
  var failure: Failure?

  init(placing: Placing) { self.placing = placing }

  mutating func finish(_ open: inout OpenFolders) throws(Failure) {
    folder = try open.folder(of: placing.names)
    guard let folder else { throw Placing.partialIsGone }
    file = placing.isKept ? nil : try placing.opened(in: folder)
    if let file {
      try placing.finish(file, in: folder)
      sha256 = try placing.sha256(of: file)
      return
    }
    guard let placed = try placing.placed(in: folder) else { throw Placing.partialIsGone }
    // It had its name before this engine began: only an equal digest shows that nobody has written to it since.
    if placing.isKept || placing.digest != nil { sha256 = try placing.sha256(of: placed) }
    guard placing.digest != nil, let now = try? placed.currentIdentity(), now.size == placed.identity.size,
      now.mtimeNs == placed.identity.mtimeNs
    else { return }
    finished = now
  }

  mutating func sync() throws(Failure) {
    guard let file else { return }
    try file.syncAll()
    finished = file.identityNow
  }

  func move() throws(Failure) {
    guard let file, let folder else { return }
    try placing.move(file, in: folder)
  }

  func syncFolder(_ syncs: inout FolderSyncs) throws(Failure) {
    guard let folder else { return }
    do throws(Failure) { try syncs.sync(folder) } catch {
      if let file { placing.moveAgain(file, in: folder) }
      throw error
    }
  }

  var result: Result<Placed, Failure> {
    if let failure { return .failure(failure) }
    let identity = file.map { placing.identity(of: $0, since: finished) } ?? finished
    return .success(Placed(identity: identity, sha256: sha256))
  }
}
