import TransferModel

extension LedgerReader {
  /// IDs (`b12`, `f345`, `a77`) of the rows whose uid begins with `prefix`, at most `limit`; attempts only if
  /// `findsAttempts`.
  package func rows(withUID prefix: UIDPrefix, limit: Int, findsAttempts: Bool) throws -> [String] {
    let others = try db.rows(
      """
      SELECT kind || id FROM (
        SELECT 'b' kind, id FROM batch WHERE uid BETWEEN ?1 AND ?2
        UNION ALL SELECT 'f', id FROM file WHERE uid BETWEEN ?1 AND ?2 ORDER BY kind, id LIMIT ?3)
      """, .blob(prefix.lowest), .blob(prefix.highest), .int(limit)
    ) { $0.text(0) }
    return Array(((findsAttempts ? try attempts(withUID: prefix, limit: limit) : []) + others).prefix(limit))
  }

  /// A uid begins with the time of its creation, which is the start of its attempt: only blocks of attempts that cover
  /// this time are read, and the attempts that no sum holds.
  private func attempts(withUID prefix: UIDPrefix, limit: Int) throws -> [String] {
    let blocks = try db.rows(
      "SELECT DISTINCT block FROM attempt_sum WHERE first_at <= ?1 AND last_at >= ?2", .integer(prefix.lastMs),
      .integer(prefix.firstMs)
    ) { $0.int64(0) }
    let ranges = blocks.map { SumBlock.first($0)...SumBlock.last($0) } + (try attemptGaps())
    var found: [String] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where found.count < limit {
      found += try db.rows(
        "SELECT 'a' || id FROM attempt WHERE id BETWEEN ?1 AND ?2 AND uid BETWEEN ?3 AND ?4 ORDER BY id LIMIT ?5",
        .integer(range.lowerBound), .integer(range.upperBound), .blob(prefix.lowest), .blob(prefix.highest), .int(limit)
      ) { $0.text(0) }
    }
    return found
  }

  /// Numbers of the batches that match all of these terms. Reads all batches.
  package func batches(_ terms: BatchTerms) throws -> [Int64] {
    try db.rows(
      """
      SELECT b.id FROM batch b JOIN destination d ON d.id = b.destination_id
      WHERE (?1 IS NULL OR EXISTS (SELECT 1 FROM json_each(?1) w, json_each(b.labels) l
          WHERE l.key = w.value ->> 'key' AND l.value = w.value ->> 'value'))
        AND (?2 IS NULL OR EXISTS (SELECT 1 FROM json_each(?2) w
          WHERE CASE WHEN w.value GLOB '*[*?[]*' THEN b.destination GLOB w.value OR d.place GLOB w.value
            ELSE instr(b.destination, w.value) OR instr(d.place, w.value) END))
        AND (?3 IS NULL OR coalesce(b.settings ->> '$.options.endpoint-url', b.destination) IN (SELECT value FROM json_each(?3)))
        AND (?4 IS NULL OR b.job IN (SELECT value FROM json_each(?4)))
      ORDER BY b.id
      """, terms.labels.isEmpty ? .null : .text(try jsonText(terms.labels)),
      terms.destinations.isEmpty ? .null : .text(try jsonText(terms.destinations)),
      terms.hosts.isEmpty ? .null : .text(try jsonText(try places(onHosts: terms.hosts))),
      terms.jobs.isEmpty ? .null : .text(try jsonText(terms.jobs))
    ) { $0.int64(0) }
  }

  /// Destinations and endpoints, as typed, whose host matches.
  private func places(onHosts globs: [String]) throws -> [String] {
    let places = try db.rows("SELECT DISTINCT coalesce(settings ->> '$.options.endpoint-url', destination) FROM batch")
    {
      $0.text(0)
    }
    let named = try jsonText(places.map { [$0] + Self.hosts(of: $0) })
    return try db.rows(
      """
      SELECT p.value ->> 0 FROM json_each(?1) p WHERE EXISTS (SELECT 1 FROM json_each(?2) g
        WHERE p.value ->> 1 GLOB lower(g.value) OR p.value ->> 2 GLOB lower(g.value))
      """, .text(named), .text(try jsonText(globs))
    ) { $0.text(0) }
  }

  /// `up.example` and `up.example:8443` of `https://up.example:8443/in/`.
  static func hosts(of place: String) -> [String] {
    let authority = authority(of: place)
    let port = authority.last == "]" ? nil : authority.lastIndex(of: ":")
    return [port.map { String(authority[..<$0]) } ?? authority, authority]
  }

  /// `up.example:8443` of `https://up.example:8443/in/`.
  static func authority(of place: String) -> String {
    let rest = place.firstRange(of: "://").map { place[$0.upperBound...] } ?? place[...]
    return rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
  }

  /// Whether any error code matches `glob`.
  public func knowsError(_ glob: String) throws -> Bool {
    try db.first("SELECT 1 FROM error_code WHERE code GLOB ? LIMIT 1", .text(glob)) { _ in true } ?? false
  }
}
