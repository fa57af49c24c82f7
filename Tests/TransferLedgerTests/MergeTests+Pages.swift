import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// The pages of a merged ledger are larger than those of other ledgers, because its rows come in order.
extension MergeTests {
  private func pageSize(_ path: String) throws -> [String] { try texts("PRAGMA page_size", in: path) }

  @Test func aNewMergedLedgerHasLargePages() throws {
    try LogTests.send(shards[0], 3)
    try mergeAll()
    #expect(try pageSize(merged) == ["32768"])
    #expect(try pageSize(shards[0].path) == ["4096"])
    #expect(try findings() == [])
  }

  /// Such as one that was empty until now.
  @Test func aLedgerWithSmallPagesIsMergedInto() throws {
    for shard in shards { try LogTests.send(shard, 2) }
    let before = home.folder + "/before.db"
    try Ledger.open(at: before, mode: .create, clock: home.clock).close()
    #expect(try Ledger.merge(shards.map(\.path), into: before, clock: home.clock, isCancelled: { false }).count == 2)
    #expect(try pageSize(before) == ["4096"])
    #expect(try texts("SELECT count(*) FROM file", in: before) == ["4"])
  }

  /// Reads of the tree begin anywhere in a row of the log.
  @Test func tilesAreTheLeavesOfTheirPlaces() throws {
    try shards[1].ledger.write { tx in
      for n in 0..<1_300 { try tx.recordEvent("told", batch: nil, file: nil, detail: "\(n)") }
    }
    try LogTests.send(shards[1], 5)
    try mergeAll()
    let ledger = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { ledger.close() }
    try ledger.read { reader in
      let shard = ShardNumber(rawValue: 2)
      var leaves: [TreeHash] = []
      try reader.forEachLogGroup(shard) { leaves += try #require(TreeHash.array($0.hashes)) }
      let size = try reader.logSize(shard)
      #expect(leaves.count == Int(size) && size > 1_300)
      for number in 0...(size / TileTree.tileLeaves) {
        let start = Int(number * TileTree.tileLeaves)
        #expect(try reader.logTile(number, of: size, shard) == Array(leaves[start..<min(start + 256, leaves.count)]))
      }
    }
  }
}
