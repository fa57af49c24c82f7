import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger
@testable import Transfers

/// A bad row stops nothing but itself.
@Suite struct RefusalTests {
  /// Runs SQL as another program would.
  private func shell(_ scene: Scene, _ sql: String) throws {
    try Connection(path: scene.storePath, access: .readWrite).execute(sql)
  }

  private func texts(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  private func findings(_ scene: Scene) throws -> [String] {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    return try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" }
  }

  @Test(arguments: ["{}", "{\"destination\":7}", "{\"destination\":\"put+http://\",\"profile\":{\"text\":\"}\"}}"])
  func aBatchWhoseSettingsCannotBeReadHoldsUpNoOther(settings: String) throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 5, count: 8)
    _ = try scene.add(to: "/broken/")
    _ = try scene.add()
    try shell(scene, "DROP TRIGGER batch_fixed; UPDATE batch SET settings = '\(settings)' WHERE id = 1")
    let result = try scene.run()
    #expect(result.blocked.keys.map(\.rawValue) == [1])
    #expect(result.blocked.values.allSatisfy { $0.kind != .bug }, "\(result.blocked)")
    #expect(result.done == files.count && result.failed == 0)
    #expect(try texts(scene, "SELECT DISTINCT state FROM file WHERE batch_id = 1") == ["pending"])
    #expect(try texts(scene, "SELECT how FROM engine_run WHERE ended_at IS NOT NULL") == ["failed: config"])
    try scene.expectSameBytes(files)
  }

  /// It does not look as if it only waited for a run.
  @Test func aBatchWhoseSettingsCannotBeReadIsListedWithItsError() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 5, count: 2)
    _ = try scene.add()
    _ = try scene.add(to: "/broken/")
    try shell(
      scene, "DROP TRIGGER batch_fixed; UPDATE batch SET settings = json_set(settings, '$.version', 2) WHERE id = 2")
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    let text = "they have version 2; this program supports 1"
    let rows = try ledger.read { try $0.batches(RowFilter(), after: 0, limit: 9) }
    #expect(rows.map(\.state) == ["pending", "held"] && rows.map(\.fault) == [nil, text])
    let status = try ledger.read { try StoreReader(reader: $0, path: "").status(RowFilter(), SystemClock()) }
    #expect(status.held.map(\.id.rawValue) == [2] && status.held.map(\.fault) == [text])
    #expect(try ledger.read { try $0.heldBatches(.batch(BatchID(rawValue: 1)), looked: 9) } == [])
    _ = try scene.run()
    #expect(try ledger.read { try $0.batches(RowFilter(), after: 0, limit: 9) }.map(\.state) == ["done", "held"])
  }

  /// Sixty batches that can be sent are in front of it.
  @Test func aHeldBatchBehindOthersIsListed() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 5, count: 1)
    for n in 1...61 { _ = try scene.add(to: "/place\(n)/") }
    try shell(
      scene, "DROP TRIGGER batch_fixed; UPDATE batch SET settings = json_set(settings, '$.version', 2) WHERE id = 61")
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    let status = try ledger.read { try StoreReader(reader: $0, path: "").status(RowFilter(), SystemClock()) }
    #expect(status.held.map(\.id.rawValue) == [61])
  }

  /// The meaning of settings from a newer program is unknown.
  @Test func settingsOfANewerVersionHoldTheirBatchBack() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 5, count: 3)
    _ = try scene.add()
    try shell(scene, "DROP TRIGGER batch_fixed; UPDATE batch SET settings = json_set(settings, '$.version', 2)")
    let result = try scene.run()
    #expect(result.blocked.values.map(\.kind) == [.config])
    #expect(result.blocked.values.allSatisfy { $0.cause.contains("version 2") })
    #expect(result.done == 0)
  }

  static let refusals = [
    ("BEFORE UPDATE OF state ON file WHEN NEW.id = 7 AND NEW.state = 'done'", "failed"),
    ("BEFORE UPDATE OF state ON file WHEN NEW.id = 7 AND NEW.state = 'active'", "failed"),
    ("BEFORE INSERT ON receipt WHEN NEW.file_id = 7", "failed"),
    ("BEFORE UPDATE OF outcome ON attempt WHEN NEW.file_id = 7 AND NEW.outcome = 'ok'", "failed"),
    ("BEFORE INSERT ON attempt WHEN NEW.file_id = 7", "failed"),
    ("BEFORE UPDATE OF chunk_count ON file WHEN NEW.id = 7", "failed"),
    ("BEFORE UPDATE OF state ON chunk WHEN NEW.file_id = 7 AND NEW.state = 'done'", "failed"),
  ]

  @Test(arguments: ["", "tus+", "post+"], refusals)
  func aChangeThatTheLedgerRefusesFailsOnlyItsFile(scheme: String, refusal: (trigger: String, state: String)) throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 6, count: 30)
    _ = try scene.add(to: scheme == "tus+" ? "/-/tus/" : "/up/", scheme: scheme)
    try shell(scene, "CREATE TRIGGER refusal \(refusal.trigger) BEGIN SELECT RAISE(FAIL, 'not this one'); END")
    let result = try scene.run()
    #expect(result.done == files.count - 1)
    let state = try texts(scene, "SELECT state FROM file WHERE id = 7")[0]
    // A request that must not be repeated was open, so it is not reported as failed.
    #expect(state == refusal.state || scheme == "post+" && state == "unknown")
    #expect(try texts(scene, "SELECT message FROM file WHERE id = 7")[0].contains("not this one"))
    #expect(try texts(scene, "SELECT count(*) FROM attempt WHERE outcome = 'open'") == ["0"])
    #expect(try texts(scene, "SELECT count(*) FROM file WHERE state = 'done'") == ["\(files.count - 1)"])
    #expect(try texts(scene, "SELECT how FROM engine_run") == ["done"])
    try shell(scene, "DROP TRIGGER refusal")
    #expect(try findings(scene) == [])
  }

  @Test func aFileThatCannotBeLetGoHoldsUpNeitherThisRunNorTheNext() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 7, count: 12)
    _ = try scene.add()
    try shell(
      scene,
      "CREATE TRIGGER refusal BEFORE UPDATE OF state ON file WHEN OLD.id = 7 AND OLD.state = 'active' BEGIN SELECT RAISE(FAIL, 'stays'); END"
    )
    let first = try scene.run()
    #expect(first.done == files.count - 1)
    #expect(try texts(scene, "SELECT state FROM file WHERE id = 7") == ["active"])
    // Not "work left": another run would not help.
    #expect(first.unrecorded.values.map(\.kind) == [.storeCorrupt] && first.error?.kind == .storeCorrupt)
    #expect(first.unrecorded.values.allSatisfy { $0.cause.contains("ledger.db") && $0.cause.contains("stays") })
    #expect(first.blocked.isEmpty, "the other files of the batch were sent")
    try Scene.write([1, 2, 3], to: NameBytes("\(scene.root)/source/later"))
    let second = try scene.push()
    #expect(second.result.done == 1 && second.result.failed == 1)
    #expect(second.result.unrecorded.values.map(\.kind) == [.storeCorrupt])
    try shell(scene, "DROP TRIGGER refusal")
    #expect(try scene.run().done == 1)
    #expect(try findings(scene) == [])
  }

  /// A bug of this program that one batch triggers.
  @Test func aBatchThatBringsAFaultToLightHoldsUpNoOther() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 8, count: 6)
    _ = try scene.add(to: "/broken/")
    _ = try scene.add()
    let fault = TransferError(.bug, "use the destination", cause: "planted by the test")
    let summary = try scene.work(with: Interposed(refusal: { $0.destination.contains("/broken/") ? fault : nil }))
    #expect(summary.blocked.mapValues(\.cause) == [BatchID(rawValue: 1): "planted by the test"])
    #expect(summary.done == files.count && summary.left == files.count)
    try scene.expectSameBytes(files)
  }
}
