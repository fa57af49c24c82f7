import Testing
import TransferModel

@testable import TransferLedger

/// The properties that rules set for an object are part of its row.
@Suite struct PropertyTests {
  private let f: LedgerFixture
  private let run: RunID

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  private func admit(_ names: [String], _ value: String?) throws -> PageAdmission {
    var page = AdmissionPage()
    for name in names {
      let file = LedgerFixture.source(name)
      file.path.bytes.withUnsafeBytes { path in
        file.key.bytes.withUnsafeBytes { key in
          page.append(
            path: path, key: key, file.identity, mode: 0,
            properties: value.map { ObjectProperties(["tag.k": $0 + (name == "b" ? "b" : "")]) })
        }
      }
    }
    return try f.ledger.write { [page, target = f.target()] tx in try tx.admit(page, to: target) }
  }

  private var stored: [String] { get throws { try f.texts("SELECT key, properties FROM file ORDER BY id") } }

  @Test func eachFileHasItsOwn() throws {
    _ = try admit(["a", "b", "c"], "1")
    #expect(try stored == [#"a {"tag.k":"1"}"#, #"b {"tag.k":"1b"}"#, #"c {"tag.k":"1"}"#])
    let claimed = try f.ledger.write { [run] tx in try tx.claimFiles(run, limit: 9) }
    #expect(claimed.map(\.properties.values) == [["tag.k": "1"], ["tag.k": "1b"], ["tag.k": "1"]])
  }

  @Test func theNextVersionHasTheSame() throws {
    _ = try admit(["a"], "1")
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.supersede(file.id, run, by: LedgerFixture.source("a", version: 2).identity, notBeforeMs: nil)
    }
    #expect(try stored == [#"a {"tag.k":"1"}"#, #"a {"tag.k":"1"}"#])
  }

  /// A wrong storage class must not keep failing after its rule was corrected.
  @Test func whatFailedIsRecordedAnewUnderOtherRules() throws {
    _ = try admit(["a"], "1")
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.failFile(file.id, run, code: .http400, message: "no", keepsSession: false)
    }
    #expect(try admit(["a"], "1").requeued == 1)
    try f.ledger.write { [run] tx in
      let file = try tx.claimFiles(run, limit: 1)[0]
      _ = try tx.failFile(file.id, run, code: .http400, message: "no", keepsSession: false)
    }
    #expect(try admit(["a"], "2").added == 1)
    #expect(try f.texts("SELECT state, properties FROM file ORDER BY id").last == #"pending {"tag.k":"2"}"#)
    #expect(try admit(["a"], nil).queued == 1, "a waiting file keeps its recorded properties")
    #expect(try stored.last == #"a {"tag.k":"2"}"#)
  }

  @Test func nobodyChangesThem() throws {
    _ = try admit(["a"], "1")
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET properties = NULL") }
    #expect(try stored == [#"a {"tag.k":"1"}"#])
  }
}
