import TransferModel

/// Partial files that get their final names together. What one of them needs of the disk is asked for before any of it
/// is waited for, so that a file system writes its journal once for all of them, and each folder is synced once. For
/// each file the order is the one that it has alone: all of it is on the disk before it is moved, its name is before
/// anybody hears of it, and what fails for one does not keep the others.
struct PlacingGroup {
  private var members: [Member]

  /// See ``Placing/perform()``. Blocking.
  /// - Returns: what became of each, in order.
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
  /// nil when it has its name already.
  var file: TargetFile?
  /// What it was when all of it was on the disk.
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
