import Testing
import TransferModel

@testable import TransferLedger

/// The no-loss proof holds for files that were sent, and each rule finds what violates it.
@Suite struct LossProofTests {
  private func proof(_ f: LedgerFixture) throws -> LossProof { try f.ledger.read { try $0.lossProof(RowFilter()) } }

  @Test func whatWasSentIsProven() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 3)
    let found = try proof(f)
    #expect(found.holds && found.files == [.done: 3] && found.total == 3, "\(found.violations)")
    let bytes = try f.texts("SELECT sum(size) FROM file")[0]
    #expect(String(found.bytes) == bytes)
  }

  /// What somebody with write access to the ledger did to file 2, and the rule that detects it.
  static let losses: [(String, LossProof.Rule)] = [
    ("UPDATE file SET state = 'pending', finished_at = NULL, live = 1 WHERE id = 2", .ended),
    ("UPDATE chunk SET length = length - 1 WHERE file_id = 2", .tiled),
    ("UPDATE chunk SET offset = 1 WHERE file_id = 2 AND seq = 0", .tiled),
    ("DELETE FROM chunk WHERE file_id = 2", .tiled),
    ("DELETE FROM chunk WHERE file_id = 2; UPDATE file SET chunk_count = NULL, chunk_size = NULL WHERE id = 2", .tiled),
    ("UPDATE attempt SET outcome = 'retry' WHERE file_id = 2", .won),
    ("UPDATE chunk SET state = 'pending', done_attempt = NULL WHERE file_id = 2", .won),
    ("UPDATE chunk SET done_attempt = (SELECT min(id) FROM attempt WHERE file_id = 1) WHERE file_id = 2", .won),
    ("DELETE FROM receipt WHERE file_id = 2", .receipt),
    (
      """
      UPDATE receipt SET confirmation = 'digest', digest = 'md5:00', remote_digest = 'md5:01' WHERE file_id = 2
      """, .receipt
    ),
    (
      """
      INSERT INTO receipt (file_id, n, finding, confirmation, etag, version_id, request_id, server_date, location,
        recorded_at) VALUES (2, 2, 'missing', 'none', '', '', '', '', '', 1)
      """, .kept
    ),
    ("UPDATE receipt SET etag = 'another' WHERE file_id = 2", .log),
  ]

  @Test(arguments: losses.indices) func eachRuleFindsWhatBreaksIt(_ index: Int) throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 3)
    let triggers = try f.texts("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    let (loss, rule) = Self.losses[index]
    try f.shell(
      "PRAGMA ignore_check_constraints=ON; PRAGMA foreign_keys=OFF; "
        + triggers.map { "DROP TRIGGER \($0); " }.joined() + loss)
    let found = try proof(f).violations
    #expect(found.contains { $0.rule == rule && ($0.file == FileID(rawValue: 2) || rule == .log) }, "\(found)")
    #expect(found.allSatisfy { $0.file == nil || $0.file == FileID(rawValue: 2) }, "\(found)")
  }
}
