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
  ) -> [Result<SourceIdentity?, Failure>] {
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

private struct Member {
  let placing: Placing
  var folder: TargetFolder?
  /// nil if the file has its final name already.
  var file: TargetFile?
  /// The identity of the file when all of it was on the disk.
  var finished: SourceIdentity?
  var failure: Failure?

  init(placing: Placing) { self.placing = placing }

  mutating func finish(_ open: inout OpenFolders) throws(Failure) {
    folder = try open.folder(of: placing.names)
    guard let folder else { throw Placing.partialIsGone }
    file = placing.isKept ? nil : try placing.opened(in: folder)
    if let file { return try placing.finish(file) }
    guard let placed = try placing.placed() else { throw Placing.partialIsGone }
    if placing.digest != nil { finished = placed.identity }
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

  var result: Result<SourceIdentity?, Failure> {
    if let failure { return .failure(failure) }
    return .success(file.map { placing.identity(of: $0, since: finished) } ?? finished)
  }
}
