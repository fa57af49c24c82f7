import TransferLedger
import TransferModel

/// Deletes or moves the sources of done files. Each removal is begun in the ledger, performed on the disk, then ended
/// in the ledger, so that a kill in between only leaves a removal that the next run finishes. Blocking, on any thread.
struct SourceRemovals: Sendable {
  private static let atOnce = 100

  let ledger: Ledger
  let notice: @Sendable (Notice) -> Void
  let stop: ReadStop

  /// The removals that were not completed in this run.
  struct Left: Sendable {
    /// Not retried in this run.
    var failed: Set<FileID> = []
    /// Retried once at the end of the run.
    var putOff: Set<FileID> = []
  }

  /// Performs all due removals, except those that are `left` from earlier passes.
  /// - Returns: the number of sources that were removed.
  @discardableResult
  func pass(_ left: inout Left) throws(TransferError) -> Int {
    var (removed, last) = (0, Int64(0))
    var removers: [BatchID: SourceRemover] = [:]
    while !stop.isAsked() {
      let read = { [last] (reader: LedgerReader) in try reader.dueRemovals(after: last, limit: Self.atOnce) }
      var page = try ledger.read(read)
      if try noteAbsent(page) { page = try ledger.read(read) }
      guard let final = page.last else { break }
      last = final.file.rawValue
      let due = page.filter { !left.failed.contains($0.file) && !left.putOff.contains($0.file) }
      for (batch, some) in Dictionary(grouping: due, by: \.batch).sorted(by: { $0.key < $1.key }) {
        if removers[batch] == nil { removers[batch] = try remover(of: batch) }
        guard let remover = removers[batch] else { continue }
        let ends = try perform(some, remover)
        for (file, end) in ends {
          switch end {
          case .done: removed += 1
          case .failed: left.failed.insert(file)
          case .putOff, .delayed: left.putOff.insert(file)
          case .gone, .kept: break
          }
        }
      }
    }
    return removed
  }

  /// Looks for the files that were given up and hold sources of the page by another path. Those whose path is gone hold
  /// nothing from now on.
  /// - Returns: whether there are any.
  private func noteAbsent(_ page: [DueRemoval]) throws(TransferError) -> Bool {
    let held = page.filter { $0.lacking != nil }
    guard !held.isEmpty else { return false }
    let holders = try ledger.read { reader in
      try Set(held.flatMap { try reader.givenUpFiles(holding: $0.file) })
    }
    var (sources, absent) = (WaitingSources(ledger), [FileID]())
    for holder in holders {
      if try sources.isGone(holder) { absent.append(holder.file) }
    }
    guard !absent.isEmpty else { return false }
    try ledger.write { [absent] tx in try tx.noteAbsent(absent.sorted()) }
    return true
  }

  func remover(of batch: BatchID) throws(TransferError) -> SourceRemover? {
    let settings = try ledger.read { reader in try reader.batchSettings(batch) }
    guard let settings, let removal = settings.after else { return nil }
    let marker = try settings.readyFile.map { text throws(TransferError) in try ReadyMarker(text) }
    let ledger = ledger
    return SourceRemover(
      removal: removal, marker: marker, places: SourcePlaces(removal),
      content: { file throws(TransferError) in try ledger.read { try $0.sentContent(of: file) } },
      folder: { path throws(TransferError) in try ledger.read { try $0.sourceFolder(path, of: batch) } },
      isDue: { file throws(TransferError) in try ledger.read { try $0.isRemovalDue(file) } }, stop: stop)
  }

  private func perform(
    _ due: [DueRemoval], _ remover: SourceRemover
  ) throws(TransferError) -> [(file: FileID, end: RemovalEnd)] {
    let judged = try due.map { one throws(TransferError) in (due: one, refusal: try remover.refusal(one)) }
    let refused = judged.compactMap { one in one.refusal.map { (file: one.due.file, end: $0) } }
    let wanted = judged.filter { $0.refusal == nil }.map(\.due)
    let begun = try ledger.write { tx in try tx.beginRemovals(wanted.map(\.file)) }
    var ends = refused
    for one in wanted where begun.contains(one.file) { ends.append((one.file, try remover.remove(one))) }
    do throws(Failure) {
      try remover.places.sync()
    } catch {
      // The changes may not be on the disk: their ends are not recorded, and the next run determines the result.
      notice(.remark("\(error.message); the next run checks the sources that were removed there again"))
      ends.removeAll { $0.end.isOver }
    }
    remover.places.release()
    let verb = remover.removal.action == .delete ? LedgerTransaction.deletionVerb : "source-moved"
    let uncertain = Set(due.filter(\.isBegun).map(\.file))
    try ledger.write { [ends] tx in try tx.endRemovals(ends, verb: verb, uncertain: uncertain) }
    tell(ends, due)
    return ends
  }

  private func tell(_ ends: [(file: FileID, end: RemovalEnd)], _ due: [DueRemoval]) {
    let paths = Dictionary(due.map { ($0.file, $0.path) }, uniquingKeysWith: { first, _ in first })
    for (file, end) in ends {
      switch end {
      case .done, .gone, .putOff, .delayed: break
      case .kept(_, let text), .failed(_, let text):
        notice(.skipped(path: paths[file] ?? NameBytes(""), reason: "the source was sent and kept: \(text)"))
      }
    }
  }
}

extension SourceRemover {
  /// The source stays for now. One that is known to be gone waits no longer: an interrupted attempt may have removed it
  /// when its job did not have the destination yet for which it waits, or the original of this copy did.
  func waiting(_ due: DueRemoval, _ code: ErrorCode, _ text: String) throws(TransferError) -> RemovalEnd {
    if let relative = places.relative(due.path, root: due.root), places.isGone(relative) {
      let folder = places.folder(of: relative)
      switch try gone(due, relative, folder >= 0 ? folder : nil) {
      case .putOff, .delayed, .failed: break
      case let end: return end
      }
    }
    return .putOff(code, text)
  }
}
