import CSQLite
import Glibc
import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// What is not merged.
extension MergeTests {
  @Test func copiesThatWentOnApartAreRefused() throws {
    try LogTests.send(shards[0], 2)
    let copied = try copy(.backup, of: shards[0], to: "copy.db")
    try LogTests.send(shards[0], 1, as: "here")
    let other = try Ledger.open(at: copied, mode: .existing, clock: HandClock())
    _ = try other.write { try $0.recordEvent("looked at", batch: nil, file: nil, detail: "there") }
    other.close()
    try merge([shards[0].path])
    let error = refusal { () throws(TransferError) in try merge([copied]) }
    #expect(error?.kind == .storeUnsuitable && error?.cause.contains("diverged") == true)
    #expect(try texts("SELECT count(*) FROM file") == ["3"])
  }

  /// Both were killed in their first requests, so that their logs are still the same.
  @Test func copiesThatWereRunApartAreRefused() throws {
    try LogTests.send(shards[0], 2)
    let copied = try copy(.backup, of: shards[0], to: "copy.db")
    _ = try shards[0].startRun()
    let other = try Ledger.open(at: copied, mode: .existing, clock: HandClock())
    _ = try other.startRun(NewRun(argv: ["transfers", "run"], version: "0.1", host: "there", bootID: "c", pid: 8))
    other.close()
    try merge([shards[0].path])
    let error = refusal { () throws(TransferError) in try merge([copied]) }
    #expect(error?.kind == .storeUnsuitable && error?.cause.contains("diverged") == true)
    #expect(try texts("SELECT host FROM engine_run ORDER BY id DESC LIMIT 1") == ["here"])
    #expect(try merge([shards[0].path]).map(\.outcome) == [.unchanged])
  }

  @Test func whatIsNoShardIsRefusedBeforeAnythingIsWritten() throws {
    try LogTests.send(shards[0], 2)
    let text = home.folder + "/text.db"
    let words = Array("not a database, but long enough for a header of one".utf8)
    try writeBytes(words + [UInt8](repeating: 9, count: 999), to: text)
    let newer = try copy(.backup, of: shards[0], to: "newer.db")
    try Connection(path: newer, access: .readWrite).execute("PRAGMA user_version=99")
    let cases: [(String, TransferError.Kind)] = [
      (home.folder + "/none.db", .storeMissing), (text, .storeCorrupt), (newer, .storeNewer),
    ]
    for (path, kind) in cases {
      let error = refusal { () throws(TransferError) in try merge([shards[0].path, path]) }
      #expect(error?.kind == kind, "\(path): \(String(describing: error))")
      #expect(access(merged, F_OK) != 0, "\(path)")
    }
  }

  /// Truncated at a page boundary, or in the middle of a page.
  @Test(arguments: [4096 * 20, 4096 * 20 + 100]) func aCutShardIsRefused(_ length: Int) throws {
    try LogTests.send(shards[1], 50)
    let cut = try copy(.snapshot, of: shards[1], to: "cut.db")
    chmod(cut, 0o600)
    #expect(truncate(cut, length) == 0)
    try LogTests.send(shards[0], 2)
    let error = refusal { () throws(TransferError) in try merge([shards[0].path, cut]) }
    #expect(error?.kind == .storeCorrupt, "\(String(describing: error))")
    try merge([shards[0].path, shards[1].path])
    #expect(try findings() == [])
    #expect(try texts("SELECT count(*) FROM file") == ["52"])
  }

  @Test func theTargetIsNoneOfTheShards() throws {
    try LogTests.send(shards[0], 1)
    let other = home.folder + "/name.db"
    symlink(shards[0].path, other)
    for target in [shards[0].path, other] {
      let error = refusal { () throws(TransferError) in
        _ = try Ledger.merge([shards[0].path], into: target, clock: home.clock, isCancelled: { false })
      }
      #expect(error?.kind == .usage, "\(target)")
    }
    let own = refusal { () throws(TransferError) in
      _ = try Ledger.merge([shards[1].path], into: shards[0].path, clock: home.clock, isCancelled: { false })
    }
    #expect(own?.kind == .storeUnsuitable && own?.cause.contains("work of its own") == true)
    try mergeAll()
    let nested = refusal { () throws(TransferError) in
      _ = try Ledger.merge([merged], into: home.folder + "/outer.db", clock: home.clock, isCancelled: { false })
    }
    #expect(nested?.cause.contains("merged ledger itself") == true)
  }

  @Test func nobodyWritesAMergedLedger() throws {
    try LogTests.send(shards[0], 1)
    try mergeAll()
    for mode in [Ledger.OpenMode.create, .existing] {
      let error = refusal { () throws(TransferError) in _ = try Ledger.open(at: merged, mode: mode, clock: home.clock) }
      #expect(error?.kind == .storeUnsuitable && error?.cause.contains("merged from other ledgers") == true)
    }
  }
}
