import Testing
import TransferModel

@testable import TransferLedger

/// The same shard sent by two ledgers.
extension MergeTests {
  private func recorded() throws -> [String] { try texts("SELECT equal_keys FROM origin_store ORDER BY id") }

  @Test func keysThatTwoShardsSentAreCounted() throws {
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 2)
    // Not sent yet.
    _ = try shards[1].add("more0", to: BatchID(rawValue: 1))
    #expect(try merge([shards[0].path]).map(\.equalKeys) == [0])
    #expect(try merge([shards[1].path]).map(\.equalKeys) == [2])
    #expect(try merge([shards[1].path, shards[0].path]).map(\.equalKeys) == [2, 0])
    let ledger = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { ledger.close() }
    #expect(try ledger.read { try $0.equalKeys() } == 2)
    // The first shard goes on: the figure of the other one changes, too.
    try LogTests.send(shards[1], 1, as: "other")
    try LogTests.send(shards[0], 1, as: "more")
    #expect(try mergeAll().map(\.equalKeys) == [0, 3])
    #expect(try shards[0].ledger.read { try $0.equalKeys() } == 0)
  }

  /// A merge that was killed before they were counted.
  @Test func keysAreCountedByTheNextMerge() throws {
    for shard in shards { try LogTests.send(shard, 2) }
    try mergeAll()
    try Connection(path: merged, access: .readWrite).execute("UPDATE origin_store SET equal_keys = NULL")
    #expect(try mergeAll().map(\.outcome) == [.unchanged, .unchanged])
    #expect(try recorded() == ["0", "2"])
  }

  @Test func shardsWithDifferentKeysHaveNoneInCommon() throws {
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 3, as: "other")
    try mergeAll()
    #expect(try recorded() == ["0", "0"])
  }
}
