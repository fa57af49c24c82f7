public import TransferModel

import CSQLite

extension LedgerReader {
  /// Rows that violate a rule; empty for a sound ledger. Reads everything: slow on a large one. At most 100 findings
  /// for each rule.
  public func check() throws -> [Finding] {
    var findings: [Finding] = []
    for (name, sql) in Self.invariants {
      let rows = try db.rowsOnce("\(sql) LIMIT 100") { row in
        (0..<sqlite3_column_count(row.statement)).map { row.textOrNil($0) ?? "NULL" }.joined(separator: " ")
      }
      findings += rows.map { Finding(invariant: name, detail: $0) }
    }
    findings += try strangeNames().map { Finding(invariant: Self.uidRule, detail: $0) }
    findings += try changedSchema().prefix(100).map { Finding(invariant: Self.schemaRule, detail: $0) }
    findings += try logFindings().map { Finding(invariant: Self.logRule, detail: $0) }
    return findings + (try damagedAttemptSums().prefix(100).map { Finding(invariant: Self.attemptSumRule, detail: $0) })
  }

  /// The rules, each a statement that returns no rows on a sound ledger, and after a crash once the next run has
  /// completed recovery. Any SQLite program can run them.
  public static let invariants: [(name: String, sql: String)] =
    rowRules + attemptRules + sessionRules + historyRules + pruneRules

  /// Includes the rules that are checked by code and not by a statement.
  public static var ruleCount: Int { invariants.count + [attemptSumRule, schemaRule, logRule, uidRule].count }

  /// Not a statement: it needs a check sum.
  static let uidRule = "I66 the ledger and the one that it was copied from have uids that a program made"

  private func strangeNames() throws -> [String] {
    let uids = try db.rowsOnce("SELECT uid FROM store_meta UNION ALL SELECT origin_uid FROM store_meta") { row in
      row.isNull(0) ? nil : row.uid(0)
    }
    return uids.compactMap(\.self).filter { !$0.isChecked }.map { "\($0)" }
  }
}
