import TransferModel
import Testing

@testable import TransferLedger

/// What the schema refuses from any program.
extension CallbackTests {
  /// Statements that are refused for the callbacks 1 (delivered), 2 (waiting) and 3 (being delivered).
  private static let refused = [
    "INSERT INTO callback (batch_id, event, kind, target, secret) VALUES (1, 'done', 'exec', 'true', '')",
    "INSERT OR REPLACE INTO callback (batch_id, event, kind, target, secret) VALUES (1, 'done', 'exec', 'true', '')",
    "INSERT INTO callback (batch_id, event, kind, target, secret) VALUES (1, 'done', 'webhook', 'https://h/', 'hunter2')",
    "UPDATE callback SET target = 'false'", "DELETE FROM callback WHERE id = 1",
    "INSERT INTO outbox (callback_id, file_id, failures) VALUES (1, 1, 1)",
    "INSERT INTO outbox (callback_id, file_id) VALUES (1, 4)",
    "UPDATE outbox SET state = 'waiting', ended_at = NULL WHERE id = 1",
    "UPDATE outbox SET state = 'delivered', ended_at = 1 WHERE id = 3", "UPDATE outbox SET file_id = 2 WHERE id = 1",
    "DELETE FROM outbox WHERE id = 2",
    "INSERT INTO delivery (outbox_id, n, started_at, outcome) VALUES (2, 1, 0, 'open')",
    "UPDATE delivery SET outcome = 'failed' WHERE outbox_id = 1", "DELETE FROM delivery WHERE outbox_id = 3",
    "INSERT OR REPLACE INTO callback_loss VALUES (1, 1, 5, 5)", "UPDATE callback_loss SET last_at = last_at + 1",
    "DELETE FROM callback_loss",
  ]

  private func callbacksOfEachKind() throws {
    let batch = try batch("put:one", [Self.told])
    for name in ["a", "b", "c", "d"] { _ = try f.add(name, to: batch) }
    for _ in 1...3 { try finish() }
    try end(try #require(try begin(1).first).id, DeliveryEnd(.ok))
    try f.shell("UPDATE outbox SET not_before = 1 << 60 WHERE id = 2")
    #expect(try begin(1).map(\.id) == [3])
    try f.shell("INSERT INTO callback_loss VALUES (1, 7, 5, 5)")
  }

  @Test(arguments: refused) func theRulesRefuse(_ sql: String) throws {
    try callbacksOfEachKind()
    let shell = try Connection(path: f.path, access: .readWrite)
    let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
    #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
    #expect(try f.findings() == [])
  }

  /// With any one of the triggers dropped, at least one of the statements passes.
  @Test func everyTriggerIsNeeded() throws {
    try callbacksOfEachKind()
    try NeededTriggers(tables: ["callback", "outbox", "delivery", "callback_loss"], refused: Self.refused)
      .check(f.path, count: 14)
  }
}
