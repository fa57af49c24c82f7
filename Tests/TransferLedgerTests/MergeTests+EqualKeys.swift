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

  /// Sends one file to the key `k`.
  private func send(_ f: LedgerFixture, _ path: String, size: Int64 = 10, _ crc: UInt32 = 7) throws {
    let batch = try f.makeBatch()
    let identity = SourceIdentity(size: size, mtimeNs: 1, ctimeNs: 1, inode: UInt64.max, device: 3)
    let run = try f.startRun()
    let proof = FileReceipt(
      FileProof(
        confirmation: .digest, digest: Digest(crc32c: crc), remoteDigest: Digest(crc32c: crc), etag: "", requestID: ""),
      location: "put:there/k")
    try f.ledger.write { tx in
      _ = try tx.admit(NewFile(path: NameBytes(path), key: NameBytes("k"), identity: identity), to: batch)
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      _ = try tx.completeFile(file.id, run, proof)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  /// The findings of `report integrity`, which `--fail-on mismatch` counts in the same way.
  private func checks() throws -> [String: Int] {
    let ledger = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { ledger.close() }
    return try ledger.read { reader in
      let found = try reader.integrity(RowFilter())
      #expect(try reader.contradicted(RowFilter()) == found.contradicted)
      return Dictionary(uniqueKeysWithValues: found.checks.map { ($0.finding, $0.files) })
    }
  }

  /// Records that a later query found the object of the only file of a shard to be another one.
  private func findOther(in shard: LedgerFixture) throws {
    let (file, run) = (FileID(rawValue: 1), try shard.startRun())
    shard.clock.advance(ms: 5)
    let attempt = try shard.ledger.write { try $0.beginQuestion(file, run, .verify) }
    let found = RemoteFinding(.differs, FileProof(confirmation: .none), size: 3)
    _ = try shard.ledger.write { try $0.endQuestion(attempt, of: file, run, ok, found) }
    _ = try shard.ledger.write { try $0.endRun(run, how: "done") }
  }

  private func violations() throws -> [LossProof.Violation] {
    let ledger = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { ledger.close() }
    return try ledger.read { try $0.lossProof(RowFilter()) }.violations
  }

  /// One of two shards replaced the object of the other: the content that was sent first is nowhere.
  @Test(arguments: [0, 1]) func whatAnotherShardReplacedIsNotProven(_ later: Int) throws {
    shards[later].clock.advance(ms: 1_000)
    try send(shards[0], "/a/x")
    try send(shards[1], "/b/x", size: later == 0 ? 10 : 12, 8)
    #expect(try mergeAll().map(\.otherContents) == [0, 1])
    let found = try violations()
    #expect(found.map(\.file) == [FileID(rawValue: later == 0 ? 2_000_000_000_001 : 1_000_000_000_001)])
    #expect(found.map(\.rule) == [.kept])
    #expect(found.first?.detail.contains(later == 0 ? "f1000000000001" : "f2000000000001") == true, "\(found)")
    #expect(try checks() == ["replaced": 1])
    // A check that has found it counts once.
    try findOther(in: shards[1 - later])
    try mergeAll()
    #expect(try checks() == ["differs": 1])
  }

  @Test func equalContentOfTwoShardsIsProven() throws {
    for shard in shards { try send(shard, "\(shard.folder)/x") }
    #expect(try mergeAll().map(\.otherContents) == [0, 0])
    #expect(try recorded() == ["0", "1"])
    #expect(try violations() == [])
  }

  /// The same path on the same host.
  @Test func aNewerVersionOfAFileReplacesItRightly() throws {
    shards[1].clock.advance(ms: 1_000)
    for (shard, crc) in zip(shards, [UInt32(7), 8]) { try send(shard, "/a/x", crc) }
    // The shard whose object it was finds the newer one.
    try findOther(in: shards[0])
    #expect(try mergeAll().map(\.otherContents) == [0, 1])
    #expect(try violations() == [])
    #expect(try checks() == [:])
  }

  @Test func shardsWithDifferentKeysHaveNoneInCommon() throws {
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 3, as: "other")
    try mergeAll()
    #expect(try recorded() == ["0", "0"])
  }
}
