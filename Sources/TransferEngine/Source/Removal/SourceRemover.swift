import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Deletes or moves sources of one batch. Blocking. Nothing is durable before ``SourcePlaces/sync()``.
struct SourceRemover {
  let removal: SourceRemoval
  let marker: ReadyMarker?
  let places: SourcePlaces
  /// Reads from the ledger the content that was sent of a file.
  let content: (FileID) throws(TransferError) -> SentContent
  /// Reads from the ledger the identity that a folder had when its sources were recorded.
  let folder: (NameBytes) throws(TransferError) -> FolderIdentity?
  /// Asks the ledger whether the removal of a file is still due.
  let isDue: (FileID) throws(TransferError) -> Bool
  let stop: ReadStop

  /// Why a source is kept, or its removal postponed, without examining it; nil if it is to be removed.
  func refusal(_ due: DueRemoval) throws(TransferError) -> RemovalEnd? {
    if due.isLost {
      return .kept(.policyProof, "its object was later found missing or different, or another file replaced it")
    }
    guard !due.isByHand else {
      return .kept(.policyProof, "a person declared it delivered, but the server did not confirm it")
    }
    guard removal.proof.accepts(due.confirmation) else {
      let proved = due.confirmation == .none ? "nothing more than success" : "the size"
      return .kept(.policyProof, "the server has confirmed \(proved), but --after-proof requires more")
    }
    if let keptMove = due.keptMove {
      return .kept(keptMove, "another batch was to move it but kept it; moving takes precedence over deleting")
    }
    if let keptElsewhere = due.keptElsewhere {
      return .kept(keptElsewhere, "another destination of its job has not proved enough, or keeps it")
    }
    guard places.relative(due.path, root: due.root) != nil else {
      return .kept(.sourceKind, "it was reached by a symbolic link out of \(NameBytes(removal.base).embedded)")
    }
    guard places.isThere else { return Self.away }
    if due.isOfOriginal { return try waiting(due, .engineCopied, Self.ofOriginal) }
    return try due.lacking.map { lacking throws(TransferError) in
      try waiting(due, .policyDestination, "a destination does not have it: \(lacking)")
    }
  }

  private static let ofOriginal =
    "this ledger is a copy or was restored from one, and the original may still need it; if it is not used any more, \"transfers run --trust-copy\""

  /// Deletes or moves the source, after comparing it a last time with the sent content and checking again whether its
  /// removal is still due. May be repeated: the effects of an earlier attempt are recognised.
  func remove(_ due: DueRemoval) throws(TransferError) -> RemovalEnd {
    if stop.isAsked() { return .stopped }
    guard let relative = places.relative(due.path, root: due.root) else {
      return .kept(.sourceKind, "it is not below its folder")
    }
    if let ledger = Ledger.ledger(owning: due.path) {
      return .kept(.sourceKind, "it belongs to the ledger \(ledger.embedded)")
    }
    let (name, folder) = (relative.lastComponent, places.folder(of: relative))
    guard folder >= 0 else { return try unopened(due, relative, errno) }
    return Self.located(try remove(due, name, from: folder, relative), name, in: folder)
  }

  private func unopened(_ due: DueRemoval, _ relative: NameBytes, _ code: Int32) throws(TransferError) -> RemovalEnd {
    if code == ENOENT { return try gone(due, relative) }
    guard code == EXDEV else { return .unable(to: "open its folder", code) }
    // openat2. It was no link when the source was added, or nobody named it.
    let base = NameBytes(removal.base).embedded
    return .kept(.sourceKind, "a folder above it is a symbolic link now, which leads out of \(base)")
  }

  /// If the folder of the source does not show the cause of a postponement (the target folder is full), the end of the
  /// cause cannot be seen there either.
  static func located(_ end: RemovalEnd, _ name: NameBytes, in folder: Int32) -> RemovalEnd {
    guard case .putOff(let code, let text) = end, code.category == .local || code == .sourceIO,
      WaitingSources.isThere(name, in: folder), WaitingSources.canBeChanged(folder)
    else { return end }
    return .delayed(code, text)
  }

  private func remove(
    _ due: DueRemoval, _ name: NameBytes, from folder: Int32, _ relative: NameBytes
  ) throws(TransferError) -> RemovalEnd {
    let opened = name.withCString { csys_open_path(folder, $0) }
    guard opened >= 0 else {
      return errno == ENOENT ? try gone(due, relative, folder) : .unable(to: "open it", errno)
    }
    defer { close(opened) }
    var status = csys_file_status()
    guard csys_status_fd(opened, &status) == 0 else { return .unable(to: "examine it", errno) }
    if let kept = try difference(due, SourceIdentity(status), isFile: status.mode & S_IFMT == S_IFREG) { return kept }
    // The comparison may have taken hours.
    guard try isDue(due.file) else {
      return .putOff(.policyDestination, "another batch needs it, or somebody wants to keep it")
    }
    guard isStill(name, in: folder, status) else { return .kept(.sourceChanged, "it has changed since it was sent") }
    do throws(Failure) {
      places.changes(folder)
      if removal.action == .delete {
        guard name.withCString({ unlinkat(folder, $0, 0) }) == 0 else { return .unable(to: "delete it", errno) }
      } else if let kept = try SourceMove(places: places, relative: relative).perform(from: folder, status) {
        return kept
      }
    } catch {
      return RemovalEnd(error)
    }
    return withoutMarker(.done, folder, relative)
  }

  /// Whether the name still leads to the file that was compared, unchanged since then.
  private func isStill(_ name: NameBytes, in folder: Int32, _ status: csys_file_status) -> Bool {
    var now = csys_file_status()
    return name.withCString { csys_status_at(folder, $0, 0, &now) } == 0
      && SourceIdentity(now) == SourceIdentity(status)
  }

  /// Removes the marker of a removed source. If that fails, the source still counts as removed.
  private func withoutMarker(_ end: RemovalEnd, _ folder: Int32, _ relative: NameBytes) -> RemovalEnd {
    do throws(Failure) {
      if let marker {
        try MarkerRemoval(marker: marker, places: places).perform(removal.action, of: relative, in: folder)
      }
      return end
    } catch {
      return .gone("it is gone, but its marker file remains: \(error.message)")
    }
  }

  /// The result if the file is not the one that was sent, or cannot be compared; nil if it is.
  private func difference(
    _ due: DueRemoval, _ now: SourceIdentity, isFile: Bool
  ) throws(TransferError) -> RemovalEnd? {
    guard isFile else { return .kept(.sourceKind, "it is no longer a regular file") }
    switch due.identity.relation(to: now) {
    case .same: return nil
    case .other: return .kept(.sourceChanged, "it has changed since it was sent")
    case .moved: break
    }
    let content = try content(due.file)
    do throws(Failure) {
      let file = try SourceFile(path: due.path, root: due.root ?? removal.base.utf8.count)
      if try ContentCheck.identity(of: file, known: due.identity, content, stop) == now { return nil }
      return .kept(.sourceChanged, "it has changed since it was sent")
    } catch {
      return RemovalEnd(error)
    }
  }

  /// Nothing has the name of the source. If an attempt was interrupted, that attempt may have removed it: a moved file
  /// is then in the target folder, but for a deleted one this cannot be determined. An attempt whose end is known has
  /// changed nothing.
  func gone(
    _ due: DueRemoval, _ relative: NameBytes, _ folder: Int32? = nil
  ) throws(TransferError) -> RemovalEnd {
    guard try places.isMounted(relative, recorded: self.folder) else { return Self.away }
    guard due.isBegun else { return .kept(.sourceMissing, "it was gone before it was removed") }
    var end = RemovalEnd.gone("it was gone after an interrupted attempt: that attempt or somebody else deleted it")
    do throws(Failure) {
      if removal.action == .move {
        guard try SourceMove(places: places, relative: relative).wasMade(of: due.identity) else {
          return .kept(.sourceMissing, "it was gone before it was moved")
        }
        end = .done
      }
    } catch {
      return RemovalEnd(error)
    }
    guard let folder else { return end }
    places.changes(folder)
    return withoutMarker(end, folder, relative)
  }

  private static let away = RemovalEnd.putOff(
    .sourceMissing, "its folder does not exist, or is not the one it was added from: is its file system mounted?")
}
