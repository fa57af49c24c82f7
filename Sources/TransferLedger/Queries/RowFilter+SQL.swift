import TransferModel

/// Translates a filter into an SQL condition. The texts are constant; all values are bound.
extension RowFilter {
  /// What drives the search, so that the most common queries use an index.
  enum Scope: String {
    /// A list of files by number.
    case ids
    /// One batch.
    case batch
    /// Anything else, between the lowest and the highest file named.
    case range
  }

  var scope: Scope {
    if batches.isEmpty, !files.isEmpty, ranges.isEmpty { return .ids }
    return files.isEmpty && onlyBatch != nil ? .batch : .range
  }

  /// - `{files}`: for a file `f`.
  /// - `{attempts}`: for an attempt `a` of a file `f`; error and time are those of the attempt.
  /// - `{attempts by file}`: the same, but attempts are found through their files: a batch leads to its attempts.
  /// - `{chunks}`: for a chunk `c` of a file `f`.
  /// - `{batches}`: for a batch `b`, or one that has such a file.
  /// - `{events}`: for an event `e` with all its parts, about files, about a batch or about neither; by its own time.
  /// - `{event parts}`: the same for the event alone.
  /// - What ``RowTerms`` has.
  var parts: [(name: String, text: String)] {
    let own: [(name: String, text: String)] = [
      ("batches", Self.ofBatch),
      ("events", ofEvent(part: "coalesce(p.part_of, p.id)", "(p.id = e.id OR p.part_of = e.id)")),
      ("event parts", ofEvent(part: "p.id", "p.id = e.id")),
      ("chunks", "{inner} AND {owned} AND \(Self.ofFile) AND \(Self.ofChunk)"),
      ("attempts", "{inner} AND {owned} AND \(Self.ofAttempt)"),
      ("attempts by file", "{search} AND {owned} AND \(Self.ofAttempt)"),
      ("files", "{search} AND {owned} AND \(Self.ofFile)"),
      ("inner", scope == .batch ? "+f.batch_id = ?105" : search), ("search", search), ("owned", Self.owned),
    ]
    return own + RowTerms.parts
  }

  /// Selects the index. A unary plus keeps a term from using one: lists of attempts and chunks are read in their own
  /// order, page by page, and sorting a whole batch for each page would cost more than skipping rows of other batches.
  private var search: String {
    switch scope {
    case .ids: "f.id IN (SELECT value FROM json_each(?103))"
    case .batch: "f.batch_id = ?105"
    case .range: "f.id BETWEEN ?101 AND ?102"
    }
  }

  /// Attempts are counted only up to the requested number: a file may have a million of them. Two conditions share one
  /// term where a separate term makes the planner (3.40) sort the files of a batch.
  private static let owned = """
    (coalesce(?103, ?104) IS NULL OR +f.id IN (SELECT value FROM json_each(?103))
      OR EXISTS (SELECT 1 FROM json_each(?104) r
        WHERE CASE r.value ->> 0 WHEN 'f' THEN f.id ELSE f.batch_id END BETWEEN r.value ->> 1 AND r.value ->> 2))
    AND (?106 IS NULL OR +f.batch_id IN (SELECT value FROM json_each(?106)))
    AND (?107 IS NULL OR f.state IN (SELECT value FROM json_each(?107))
      OR (?108 AND f.state = 'pending' AND f.not_before IS NOT NULL))
    AND (NOT ?119 OR f.hidden IS NULL)
    AND (?109 IS NULL OR EXISTS (SELECT 1 FROM json_each(CAST(?109 AS TEXT)) p WHERE CAST(f.path AS TEXT) GLOB p.value))
    AND (?120 IS NULL OR (SELECT x.direction FROM batch x WHERE x.id = f.batch_id) = ?120)
    AND (?121 IS NULL OR f.size >= ?121) AND (?122 IS NULL OR f.size <= ?122)
    AND iif(?128 IS NULL OR f.id % ?128 = ?129, ?123 IS NULL OR f.finished_at - f.started_at > ?123, 0)
    AND (?124 IS NULL OR coalesce((SELECT x.attempts BETWEEN ?124 AND ?125 FROM pruned_file x WHERE x.file_id = f.id),
      (?124 <= 0 OR EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id AND NOT \(RowTerms.isAfterItsEnd) LIMIT 1 OFFSET ?124 - 1))
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id AND NOT \(RowTerms.isAfterItsEnd) LIMIT 1 OFFSET ?125)))
    AND iif(NOT ?130 OR f.state = 'unknown' OR f.state = 'cancelled' AND EXISTS (SELECT 1 FROM file u
        WHERE u.id = f.id AND u.may_have_arrived = 1 AND u.cause IS NOT 'policy.resolved'),
      NOT ?126 OR f.state = 'done' AND NOT EXISTS (SELECT 1 FROM receipt x
        WHERE x.file_id = f.id AND x.n = 1 AND x.confirmation <> 'none'), 0)
    """

  private static let moment = """
    CASE ?127 WHEN 'started' THEN f.started_at WHEN 'finished' THEN f.finished_at WHEN 'created' THEN f.created_at
      ELSE coalesce(f.finished_at, f.created_at) END
    """

  /// Where files are counted, a chunk or an attempt that is named selects its file.
  private static let ofFile = """
    (?113 IS NULL OR EXISTS (SELECT 1 FROM json_each(?113) r
      WHERE CASE r.value ->> 0
        WHEN 'a' THEN EXISTS (SELECT 1 FROM attempt x WHERE x.file_id = f.id AND x.id BETWEEN r.value ->> 1 AND r.value ->> 2)
        ELSE EXISTS (SELECT 1 FROM chunk x WHERE x.file_id = f.id AND x.id BETWEEN r.value ->> 1 AND r.value ->> 2) END))
    AND (?110 IS NULL OR EXISTS (SELECT 1 FROM json_each(?110) e WHERE f.cause GLOB e.value))
    AND (?111 IS NULL OR \(moment) >= ?111) AND (?112 IS NULL OR \(moment) < ?112)
    """

  private static let ofAttempt = """
    a.id BETWEEN ?115 AND ?116 AND
    (?110 IS NULL OR EXISTS (SELECT 1 FROM json_each(?110) e WHERE a.error_code GLOB e.value))
    AND (?111 IS NULL OR coalesce(a.ended_at, ?111) >= ?111) AND (?112 IS NULL OR a.started_at < ?112)
    AND (?113 IS NULL OR EXISTS (SELECT 1 FROM json_each(?113) r
      WHERE CASE r.value ->> 0 WHEN 'a' THEN a.id ELSE a.chunk_id END BETWEEN r.value ->> 1 AND r.value ->> 2))
    """

  private static let ofChunk = """
    c.id BETWEEN ?117 AND ?118 AND
    (?113 IS NULL OR EXISTS (SELECT 1 FROM json_each(?113) r
      WHERE r.value ->> 0 = 'c' AND c.id BETWEEN r.value ->> 1 AND r.value ->> 2))
    """

  /// A batch that is named as a whole counts even without files; its time is then that of its creation, and it has
  /// neither started nor finished.
  private static let ofBatch = """
    (?106 IS NULL OR b.id IN (SELECT value FROM json_each(?106)))
    AND (NOT ?119 OR b.hidden IS NULL)
    AND (NOT ?114 AND coalesce(?127, 'created') = 'created' AND (?111 IS NULL OR b.created_at >= ?111) AND (?112 IS NULL OR b.created_at < ?112)
        AND (coalesce(?103, ?104) IS NULL OR EXISTS (SELECT 1 FROM json_each(?104) r
          WHERE r.value ->> 0 = 'b' AND b.id BETWEEN r.value ->> 1 AND r.value ->> 2))
      OR EXISTS (SELECT 1 FROM file f WHERE f.batch_id = b.id AND +f.id BETWEEN ?101 AND ?102 AND {owned} AND \(ofFile)))
    """

  /// Files that are named by number lead to their events; otherwise the events lead to their files. An event without
  /// files is about its batch.
  private func ofEvent(part: String, _ isPart: String) -> String {
    "(?111 IS NULL OR e.at >= ?111) AND (?112 IS NULL OR e.at < ?112) AND "
      + (scope == .ids
        ? """
        e.id IN (SELECT \(part) FROM json_each(?103) n CROSS JOIN file f ON f.id = n.value
          CROSS JOIN event_range r ON r.first_file BETWEEN f.id - \(EventRanges.longest - 1) AND f.id AND r.last_file >= f.id
          CROSS JOIN event p ON p.id = r.event_id WHERE {owned} AND \(Self.hasCause))
        """
        : """
        (?106 IS NULL OR e.batch_id IN (SELECT value FROM json_each(?106)))
        AND (EXISTS (SELECT 1 FROM event p CROSS JOIN event_range r ON r.event_id = p.id
            CROSS JOIN file f ON f.id BETWEEN r.first_file AND r.last_file WHERE \(isPart) AND {owned} AND \(Self.hasCause))
          OR NOT ?114 AND NOT EXISTS (SELECT 1 FROM event_range r WHERE r.event_id = e.id)
            AND (coalesce(?103, ?104) IS NULL OR EXISTS (SELECT 1 FROM json_each(?104) r
              WHERE r.value ->> 0 = 'b' AND e.batch_id BETWEEN r.value ->> 1 AND r.value ->> 2)))
        """)
  }

  private static let hasCause = """
    (?110 IS NULL OR EXISTS (SELECT 1 FROM json_each(?110) w WHERE f.cause GLOB w.value))
    """

  /// The values of ?101 and up.
  var shared: [SQLValue] {
    Self.bounds(batches.isEmpty ? files : []) + [
      json(single), json(ranges), .int(onlyBatch), withinBatches.map { json($0, orNull: false) } ?? .null,
      stateNames, .flag(isBackingOff), pathGlobs, Self.texts(errors), .int(sinceMs), .int(untilMs),
      json(chunks.map { ("c", $0) } + attempts.map { ("a", $0) }), .flag(narrowsFiles),
    ] + Self.bounds(chunks.isEmpty ? attempts : []) + Self.bounds(attempts.isEmpty ? chunks : [])
      + [.flag(leavesOutHidden)] + ofFacts
  }

  /// The values of ?120 and up.
  private var ofFacts: [SQLValue] {
    [
      direction.map { .text($0.rawValue) } ?? .null, .int(minSize), .int(maxSize), .int(slowerThanMs),
      .int(attemptCount?.lowerBound), .int(attemptCount?.upperBound), .flag(isUnverified),
      placedBy.map { .text($0.rawValue) } ?? .null, .int(share?.count), .int(share.map { $0.number - 1 }),
      .flag(isUndecided),
    ]
  }

  /// A JSON array of pairs; NULL if no session was named.
  var sessionRanges: SQLValue {
    sessions.isEmpty ? .null : Self.array(sessions.map { "[\($0.lowerBound),\($0.upperBound)]" })
  }

  private static func bounds(_ ranges: [ClosedRange<Int64>]) -> [SQLValue] {
    [.integer(ranges.map(\.lowerBound).min() ?? 0), .integer(ranges.map(\.upperBound).max() ?? .max)]
  }

  /// Ranges of files up to this length are expanded into single numbers.
  private static let shortRange = 1000

  /// Files that are looked up by number. Expanding long ranges, too, would only add cost.
  private var single: [Int64] { files.filter { $0.count <= Self.shortRange }.flatMap(Array.init) }

  private var ranges: [(String, ClosedRange<Int64>)] {
    files.filter { $0.count > Self.shortRange }.map { ("f", $0) } + batches.map { ("b", $0) }
  }

  /// The only batch that the filter can match, if there is just one.
  private var onlyBatch: Int64? {
    if let withinBatches { return withinBatches.count == 1 ? withinBatches[0] : nil }
    guard batches.count == 1, files.isEmpty, batches[0].count == 1 else { return nil }
    return batches[0].lowerBound
  }

  private var stateNames: SQLValue {
    states.isEmpty && !isBackingOff ? .null : Self.array(states.map { "\"\($0.rawValue)\"" })
  }

  /// As bytes, because names need not be UTF-8.
  private var pathGlobs: SQLValue {
    guard !paths.isEmpty else { return .null }
    let quoted = paths.map { path in
      [0x22]
        + path.bytes.flatMap { byte -> [UInt8] in
          switch byte {
          case 0x22, 0x5C: [0x5C, byte]
          case 0..<0x20: Array("\\u00".utf8) + hexText([byte]).utf8
          default: [byte]
          }
        } + [0x22]
    }
    return .blob([0x5B] + quoted.joined(separator: [0x2C]) + [0x5D])
  }

  private func json(_ numbers: [Int64], orNull: Bool = true) -> SQLValue {
    numbers.isEmpty && orNull ? .null : Self.array(numbers.map { "\($0)" })
  }

  private func json(_ ranges: [(String, ClosedRange<Int64>)]) -> SQLValue {
    ranges.isEmpty ? .null : Self.array(ranges.map { "[\"\($0)\",\($1.lowerBound),\($1.upperBound)]" })
  }

  private static func texts(_ texts: [String]) -> SQLValue {
    guard !texts.isEmpty, let json = try? jsonText(texts) else { return .null }
    return .text(json)
  }

  private static func array(_ items: [String]) -> SQLValue { .text("[" + items.joined(separator: ",") + "]") }
}

extension Connection {
  func rows<T>(
    _ sql: StaticString, _ filter: RowFilter, _ values: SQLValue..., row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> [T] {
    try rows(filter.statement(sql, values), row: row)
  }

  func first<T>(
    _ sql: StaticString, _ filter: RowFilter, _ values: SQLValue..., row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> T? {
    try first(filter.statement(sql, values), row: row)
  }

  @discardableResult
  func run(_ sql: StaticString, _ filter: RowFilter, _ values: SQLValue...) throws(SQLiteError) -> Int {
    try run(filter.statement(sql, values))
  }
}

extension RowFilter {
  /// `sql` with the condition inserted. Its own parameters are `?1`, `?2`, …
  func statement(_ sql: StaticString, _ values: [SQLValue] = []) -> ComposedStatement {
    ComposedStatement(sql: sql, variant: scope.rawValue, parts: parts, values: values, shared: shared)
  }
}
