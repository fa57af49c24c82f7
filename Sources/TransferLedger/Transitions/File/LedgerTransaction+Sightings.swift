import TransferModel

/// Sightings: the source has a different ctime or device than when its file was admitted, but the same content.
extension LedgerTransaction {
  /// active, finishing: the source was found to contain what was sent of it. Only ctime and device of its identity may
  /// differ from those at admission.
  package func sight(_ file: FileID, _ run: RunID, as now: SourceIdentity) throws -> TransitionResult {
    let isMine = try db.first(Self.workedOn, .id(file), .id(run), .int(now.size), .int(now.mtimeNs), .bits(now.inode)) {
      _ in true
    }
    guard isMine == true else { return .lost(to: try stateOf(file, run)) }
    try recordSighting(file, now)
    return .applied
  }

  /// The same for a done live file.
  func sightDone(_ file: FileID, as now: SourceIdentity) throws -> TransitionResult {
    let isDone = try db.first(Self.standing, .id(file), .int(now.size), .int(now.mtimeNs), .bits(now.inode)) { _ in
      true
    }
    guard isDone == true else {
      return .lost(to: try db.first("SELECT state FROM file WHERE id = ?", .id(file)) { $0.text(0) })
    }
    try recordSighting(file, now)
    return .applied
  }

  private static let workedOn: StaticString = """
    SELECT 1 FROM file WHERE id = ? AND state IN ('active', 'finishing') AND run_id = ?
      AND size = ? AND mtime_ns = ? AND inode = ?
    """

  private static let standing: StaticString =
    "SELECT 1 FROM file WHERE id = ? AND state = 'done' AND live = 1 AND size = ? AND mtime_ns = ? AND inode = ?"

  private func recordSighting(_ file: FileID, _ now: SourceIdentity) throws {
    let changes = try db.run(
      "UPDATE sighting SET ctime_ns = ?, device = ?, boot = ?, seen_at = ? WHERE file_id = ?", .int(now.ctimeNs),
      .bits(now.device), .bits(now.boot), .int(wallMs), .id(file))
    if changes == 1 { return }
    try db.run(
      "INSERT INTO sighting (file_id, ctime_ns, device, boot, seen_at) VALUES (?, ?, ?, ?, ?)", .id(file),
      .int(now.ctimeNs), .bits(now.device), .bits(now.boot), .int(wallMs))
  }

  /// The identity under which the content of a file was last seen; `admitted` if it was never seen under another one.
  func sighted(_ file: FileID, _ admitted: SourceIdentity) throws -> SourceIdentity {
    try db.first("SELECT ctime_ns, device, boot FROM sighting WHERE file_id = ?", .id(file)) { row in
      var seen = admitted
      (seen.ctimeNs, seen.device, seen.boot) = (row.int64(0), row.bits(1), row.bits(2))
      return seen
    } ?? admitted
  }
}
