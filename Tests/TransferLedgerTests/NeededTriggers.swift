import Testing
import TransferModel

@testable import TransferLedger

/// The triggers of some tables that refuse changes, and statements that they refuse.
struct NeededTriggers {
  let tables: [String]
  let refused: [String]

  /// With any one of the triggers dropped, at least one of the statements passes.
  func check(_ path: String, count: Int) throws {
    let shell = try Connection(path: path, access: .readWrite)
    // The default of other programs: a row that REPLACE deletes fires no delete trigger.
    try shell.execute("PRAGMA recursive_triggers=OFF")
    let names = tables.map { "'\($0)'" }.joined(separator: ", ")
    let triggers = try shell.rowsOnce(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%RAISE(%' AND tbl_name IN (\(names))"
    ) { $0.text(0) }
    #expect(triggers.count == count)
    for trigger in triggers {
      try shell.execute("BEGIN; DROP TRIGGER \(trigger)")
      let passed = refused.contains { sql in
        try? shell.execute("SAVEPOINT one")
        defer { try? shell.execute("ROLLBACK TO one; RELEASE one") }
        return (try? shell.execute(sql)) != nil
      }
      try shell.execute("ROLLBACK")
      #expect(passed, "\(trigger)")
    }
  }
}
