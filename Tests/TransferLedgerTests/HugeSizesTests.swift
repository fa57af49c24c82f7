import Testing
import TransferModel

@testable import TransferLedger

/// Sizes that lists and servers declare, and those of sparse files, may exceed 2^63 together: their sums stop there.
@Suite struct HugeSizesTests {
  private let f: LedgerFixture
  private let added: AddedFiles

  init() throws {
    f = try LedgerFixture()
    var page = AdmissionPage()
    for name in ["a", "b", "c"] { page.append(LedgerFixture.source(name, size: 1 << 62)) }
    let target = f.target()
    let mark = try f.ledger.read { try $0.addedMark() }
    let done = try f.ledger.write { [page] in try $0.admit(page, to: target) }
    #expect(done.bytes == Int64.max)
    added = AddedFiles(since: mark, batch: done.batch, files: done.files)
  }

  @Test func waitingFilesAreCounted() throws {
    var plain = RowFilter()
    plain.untilMs = .max
    let batch = BatchID(rawValue: 1)
    #expect(try f.ledger.read { try $0.workSize() }.bytes == Int64.max)
    for filter in [RowFilter(), plain, .batch(batch)] {
      #expect(try f.ledger.read { try $0.stateTotals(filter) }.bytes == Int64.max)
      #expect(try f.ledger.read { try $0.fileTotals(filter) }.bytes == Int64.max)
    }
    let totals = try f.ledger.read { [added] in try $0.totals(of: added, nowMs: 0) }
    #expect(totals.files.bytes == Int64.max)
    #expect(try f.ledger.read { try $0.whyRow(.batch(batch)) }?.bytes == Int64.max)
    #expect(try f.texts("SELECT bytes, bytes_done FROM v_batches") == ["\(Int64.max) 0"])
  }

  /// The files are done without requests: the triggers are gone meanwhile.
  @Test func doneFilesAreAddedUp() throws {
    let shell = try Connection(path: f.path, access: .readWrite)
    let guards = try shell.rowsOnce("SELECT name FROM sqlite_schema WHERE type = 'trigger'") { $0.text(0) }
    for name in guards { try shell.execute("DROP TRIGGER \(name)") }
    try shell.execute(
      """
      UPDATE file SET state = 'done', finished_at = 9, chunk_size = 2000, chunk_count = 1, hidden = 1;
      PRAGMA foreign_keys = OFF;
      INSERT INTO receipt (file_id, size, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
        recorded_at) SELECT id, size, id, 'size', '', '', '', '', '', 0 FROM file
      """)
    try f.ledger.write { try $0.addUpDone(1, 0) }
    #expect(try f.texts("SELECT files, bytes, hidden_bytes FROM file_sum") == ["3 \(Int64.max) \(Int64.max)"])
    #expect(try f.findings().filter { $0.hasPrefix("I37") } == [])
    #expect(try f.ledger.read { try $0.stateTotals(RowFilter()) }.bytes == Int64.max)
    #expect(try f.ledger.read { try $0.integrity(RowFilter()) }.methods.map(\.bytes) == [Int64.max])
  }
}
