import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// The log holds a leaf for every receipt, ended attempt and event, encoded as docs/receipts.md specifies.
@Suite struct LogTests {
  static func entries(_ f: LedgerFixture) throws -> [LogEntry] {
    var entries: [LogEntry] = []
    try f.ledger.read { reader in try reader.forEachLogGroup { entries += try #require(LogEntry.all($0.entries)) } }
    return entries
  }

  /// Sends `count` files, one after the other; the first of them needs two attempts.
  static func send(_ f: LedgerFixture, _ count: Int, as letter: String = "f") throws {
    let batch = try f.makeBatch()
    for n in 0..<count { _ = try f.add("\(letter)\(n)", to: batch) }
    let run = try f.startRun()
    for n in 0..<count {
      f.clock.advance(ms: 10)
      try f.ledger.write { tx in
        let file = try tx.claimAndPlan(run)
        if n == 0 {
          let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
          _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
          _ = try tx.releaseChunk(chunk.id, chunk.attempt)
        }
        try tx.sendAll(file.id, run)
        _ = try tx.completeFile(file.id, run, proof)
      }
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  @Test func whatEndsIsAppendedWithItsTransaction() throws {
    let f = try LedgerFixture()
    try Self.send(f, 2)
    #expect(
      try Self.entries(f) == [
        .event(1), .attempt(1), .attempt(2), .receipt(file: 1, n: 1), .attempt(3), .receipt(file: 2, n: 1),
      ])
    #expect(try f.texts("SELECT first_leaf, leaves FROM log_group").suffix(2) == ["1 3", "4 2"])
    #expect(try f.findings() == [])
  }

  /// Consecutive rows are read with one query. Their leaves are the same in any order, even if rows are skipped or
  /// another query runs in between.
  @Test func aLeafIsTheSameInWhateverOrderItIsRead() throws {
    let f = try LedgerFixture()
    try Self.send(f, 12)
    let entries = try Self.entries(f) + [.attempt(99), .receipt(file: 99, n: 1)]
    try f.ledger.read { reader in
      let alone = try entries.map { try LeafEncoder(reader.db).hash($0) }
      #expect(alone.count { $0 == nil } == 2)
      var random = Xorshift(seed: 7)
      for round in 0..<20 {
        let order = round == 0 ? Array(entries.indices) : entries.indices.shuffled(using: &random)
        let (encoder, other) = (LeafEncoder(reader.db), LeafEncoder(reader.db))
        for i in order.dropLast(round) {
          #expect(try encoder.hash(entries[i]) == alone[i], "\(entries[i]) in round \(round)")
          if round.isMultiple(of: 3) { _ = try other.hash(entries[(i + round) % entries.count]) }
        }
      }
    }
  }

  @Test func whatIsRolledBackIsNotInTheLog() throws {
    let f = try LedgerFixture()
    try Self.send(f, 1)
    let before = try Self.entries(f)
    #expect(throws: (any Error).self) {
      try f.ledger.write { tx in
        try tx.recordEvent("told", batch: nil, file: nil, detail: "never")
        throw Surprise("no")
      }
    }
    #expect(try Self.entries(f) == before)
    try f.ledger.write { try $0.recordEvent("told", batch: nil, file: nil, detail: "then") }
    #expect(try Self.entries(f) == before + [.event(2)])
    #expect(try f.findings() == [])
  }

  /// The encoding is an interface: people hold receipts that were made with it.
  @Test func theBytesOfALeafStayWhatTheyAre() throws {
    let f = try LedgerFixture()
    try Self.send(f, 1)
    let bytes = try f.ledger.read { reader in
      try [LogEntry.receipt(file: 1, n: 1), .attempt(1), .event(1)].map {
        try #require(try LeafEncoder(reader.db).bytes($0))
      }
    }
    let uid = try f.texts("SELECT hex(uid) FROM file")[0].lowercased()
    #expect(
      hexText(bytes[0])
        == "9819" + "01" + "6772656365697074" + "01" + "01" + "50" + uid + "01" + "01" + "f6" + "472f7372632f6630"
        + "426630" + "01" + "f6" + "0a" + "02" + "66646967657374" + "6f6372633332633a3030303030303037"
        + "6f6372633332633a3030303030303037" + "f6" + "63226522" + "60" + "627231" + "60" + "6b7075743a74686572652f61"
        + "f6" + "1b0000018bcfe5680a")
    #expect(bytes[1].starts(with: [0x98, 0x24, 0x01, 0x67] + Array("attempt".utf8) + [0x01, 0x50]))
    // The first event of a batch ends with the time of that.
    #expect(bytes[2].suffix(3) == [0xE5, 0x68, 0x00])
  }

  /// Sends the only file of a ledger, of ten bytes, and loses the answer: it is unknown what arrived.
  private static func loseAnswer(_ tx: LedgerTransaction, _ run: RunID) throws -> FileID {
    let file = try tx.claimAndPlan(run).id
    let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
    var lost = result(.retry, mayHaveArrived: true)
    lost.bytesTransferred = 10
    _ = try tx.closeAttempt(chunk.attempt, run, lost)
    _ = try tx.releaseChunk(chunk.id, chunk.attempt)
    return file
  }

  /// Sends the only file of a ledger. The bytes of its first attempt are found on the server later and credited to
  /// attempt 1.
  static func sendCredited(_ f: LedgerFixture) throws {
    _ = try f.add("a", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try Self.loseAnswer(tx, run)
    }
    try f.ledger.write { tx in
      let verify = try tx.beginAttempt(FileID(rawValue: 1), run, .verify, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(verify, run, ok)
      _ = try tx.confirmChunks(FileID(rawValue: 1), run, by: verify, .size, etag: "e")
      _ = try tx.completeFile(FileID(rawValue: 1), run, proof)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  @Test func bytesThatAreCreditedLaterAreLoggedAnew() throws {
    let f = try LedgerFixture()
    try Self.sendCredited(f)
    let ofAttempt = try Self.entries(f).filter { $0.description == "a1" }
    #expect(ofAttempt == [.attempt(1), .credited(attempt: 1, transferred: 10, acked: 0)])
    #expect(try f.texts("SELECT bytes_acked FROM attempt WHERE id = 1") == ["10"])
    #expect(try f.findings() == [])
  }

  @Test func whatIsCreditedInTheTransactionOfItsEndHasOneLeaf() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try Self.loseAnswer(tx, run)
      let verify = try tx.beginAttempt(file, run, .verify, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(verify, run, ok)
      _ = try tx.confirmChunks(file, run, by: verify, .size, etag: "e")
      _ = try tx.completeFile(file, run, proof)
    }
    #expect(try Self.entries(f).filter { $0.description == "a1" } == [.attempt(1)])
    #expect(try f.findings() == [])
  }

  @Test func aRowLongerThanTheBufferIsALeafToo() throws {
    let f = try LedgerFixture()
    let detail = String(repeating: "long ", count: 10_000)
    try f.ledger.write { try $0.recordEvent("told", batch: nil, file: nil, detail: detail) }
    let bytes = try f.ledger.read { try #require(try LeafEncoder($0.db).bytes(.event(1))) }
    #expect(bytes.count > 50_000 && bytes.count < 50_100)
    #expect(try f.findings() == [])
  }

  @Test func moreLeavesThanAGroupHasAreSeveral() throws {
    let f = try LedgerFixture()
    try f.ledger.write { tx in
      for n in 0..<2_500 { try tx.recordEvent("told", batch: nil, file: nil, detail: "\(n)") }
    }
    #expect(try f.texts("SELECT first_leaf, leaves FROM log_group") == ["0 1024", "1024 1024", "2048 452"])
    let hasher = TreeHasher()
    let (tree, leaves) = try f.ledger.read { reader in
      let encoder = LeafEncoder(reader.db)
      let leaves = try (1...2_500).map { try #require(try encoder.hash(.event($0))) }
      let tree = try reader.logTree()
      let path = try tree.inclusion(of: 1_500, in: 2_500)
      #expect(ProofCheck.includes(leaves[1_500], at: 1_500, in: 2_500, head: try tree.head, path: path))
      return (try tree.head(3), leaves)
    }
    #expect(tree == hasher.node(hasher.node(leaves[0], leaves[1]), leaves[2]))
    #expect(try f.findings() == [])
  }
}
