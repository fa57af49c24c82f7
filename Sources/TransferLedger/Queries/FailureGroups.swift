import TransferModel

extension LedgerReader {
  /// Failures of the files that the filter selects, grouped by these kinds: most files first, then most attempts. Keeps
  /// the groups in memory; with path prefixes, one for each folder.
  package func failures(_ filter: RowFilter, by kinds: Set<FailureGroup.Kind>) throws -> [FailureGroup] {
    var groups = FailureGroups(kinds: kinds, hosts: kinds.contains(.host) ? try hosts() : nil)
    _ = try db.rows(
      """
      SELECT f.cause, f.batch_id, f.finished_at, f.finished_at, f.path,
        (SELECT a.mirror FROM attempt a WHERE a.file_id = f.id AND a.error_code = f.cause ORDER BY a.id DESC LIMIT 1)
      FROM file f WHERE f.state IN ('failed', 'unknown', 'settling')
        AND (f.state <> 'settling' OR f.cause IS NOT NULL AND f.cause <> 'source.settling')
        AND f.state <> 'done' AND f.state <> 'active' AND f.state <> 'pending' AND f.state <> 'finishing'
        AND {files}
      ORDER BY f.id
      """, filter
    ) { groups.add($0, isFile: true) }
    _ = try db.rows(
      """
      SELECT a.error_code, f.batch_id, a.started_at, coalesce(a.ended_at, a.started_at), f.path, a.mirror
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.error_code IS NOT NULL AND {attempts}
      ORDER BY a.id
      """, filter
    ) { groups.add($0, isFile: false) }
    return groups.sorted
  }

  /// Counts the files, the attempts, or the failures of both that the filter selects, by batch, direction, state and
  /// error.
  package func facetTallies(_ filter: RowFilter, _ subject: FacetSubject) throws -> [FacetTally] {
    let hosts = try hosts()
    let onlyFailed = SQLValue.flag(subject == .failures)
    func tally(_ row: SQLRow, mirror: String? = nil) throws(SQLiteError) -> FacetTally {
      FacetTally(
        batch: row.id(0), host: hosts.host(of: row.int64(0), mirror: mirror), direction: try row.named(1),
        state: row.text(2), errorCode: row.textOrNil(3))
    }
    var found: [FacetTally] = []
    if subject != .attempts {
      found = try db.rows(
        """
        SELECT f.batch_id, iif(f.is_download IS NULL, 'upload', 'download'), f.state, f.cause, count(*) FROM file f
        WHERE {files} AND (NOT ?1 OR f.state IN ('failed', 'unknown')) GROUP BY 1, 2, 3, 4
        """, filter, onlyFailed
      ) { row throws(SQLiteError) in
        var found = try tally(row)
        found.files = row.int64(4)
        return found
      }
    }
    guard subject != .files else { return found }
    return try found
      + db.rows(
        """
        SELECT f.batch_id, iif(f.is_download IS NULL, 'upload', 'download'), f.state, a.error_code, count(*), a.mirror
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        WHERE {attempts} AND (NOT ?1 OR a.error_code IS NOT NULL) GROUP BY 1, 2, 3, 4, 6
        """, filter, onlyFailed
      ) { row throws(SQLiteError) in
        var found = try tally(row, mirror: row.textOrNil(5))
        found.attempts = row.int64(4)
        return found
      }
  }
}

/// Adds up failures in groups.
private struct FailureGroups {
  private struct Key: Hashable { var code: String?, host: String?, hour: Int64?, folder: [UInt8]? }

  private let kinds: Set<FailureGroup.Kind>
  /// nil if failures are not grouped by host.
  private let hosts: AttemptHosts?
  private var groups: [Key: FailureGroup] = [:]

  init(kinds: Set<FailureGroup.Kind>, hosts: AttemptHosts?) { (self.kinds, self.hosts) = (kinds, hosts) }

  /// The columns of `row`: error, batch, start, end, path and mirror.
  mutating func add(_ row: SQLRow, isFile: Bool) {
    let fromMs = row.int64OrNil(2)
    let path = row.bytes(4)
    let host = hosts?.host(of: row.int64(1), mirror: row.textOrNil(5))
    let key = Key(
      code: kinds.contains(.code) ? row.textOrNil(0) : nil, host: host,
      hour: kinds.contains(.hour) ? fromMs.map { ($0 / 3_600_000 % 24 + 24) % 24 } : nil,
      folder: kinds.contains(.pathPrefix)
        ? Array(path.prefix((path.lastIndex(of: 0x2F) ?? -1) + 1)) : nil)
    var one = FailureGroup()
    (one.files, one.attempts) = isFile ? (1, 0) : (0, 1)
    (one.firstMs, one.lastMs, one.examplePath) = (fromMs, row.int64OrNil(3), NameBytes(path))
    groups[key, default: FailureGroup()].add(one)
  }

  var sorted: [FailureGroup] {
    let common = Self.common(groups.keys.compactMap(\.folder))
    var named: [Key: FailureGroup] = [:]
    for (key, group) in groups.sorted(by: { ($0.key.folder ?? []).lexicographicallyPrecedes($1.key.folder ?? []) }) {
      var key = key
      key.folder = key.folder.map { Self.branch(of: $0, below: common) }
      named[key, default: FailureGroup()].add(group)
    }
    let rows = named.map { key, group in
      var row = group
      (row.code, row.host, row.hour, row.folder) = (key.code, key.host, key.hour, key.folder.map { NameBytes($0) })
      return row
    }
    return rows.sorted { a, b in
      (b.files, b.attempts, a.code ?? "", a.host ?? "", a.hour ?? -1, a.folder?.description ?? "")
        < (a.files, a.attempts, b.code ?? "", b.host ?? "", b.hour ?? -1, b.folder?.description ?? "")
    }
  }

  /// The folder that contains all of these, with its slash.
  private static func common(_ folders: [[UInt8]]) -> [UInt8] {
    guard var common = folders.first?[...] else { return [] }
    for folder in folders.dropFirst() {
      let shared = zip(common, folder).prefix { $0 == $1 }.count
      common = common.prefix(shared)
    }
    return Array(common.prefix { _ in true }.prefix((common.lastIndex(of: 0x2F) ?? -1) + 1))
  }

  /// The folder up to the first slash below `common`.
  private static func branch(of folder: [UInt8], below common: [UInt8]) -> [UInt8] {
    let rest = folder.dropFirst(common.count)
    return Array(rest.firstIndex(of: 0x2F).map { folder[...$0] } ?? folder[...])
  }
}

extension FailureGroup {
  fileprivate mutating func add(_ other: FailureGroup) {
    // An example of a file that ended is better than one of a file that only met a failure.
    if examplePath == nil || other.files > 0 && files == 0 { examplePath = other.examplePath }
    files += other.files
    attempts += other.attempts
    firstMs = [firstMs, other.firstMs].compactMap(\.self).min()
    lastMs = [lastMs, other.lastMs].compactMap(\.self).max()
  }
}
