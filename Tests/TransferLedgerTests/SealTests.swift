import Glibc
import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// Seals of the log, the key that makes them, and receipts with their proofs.
@Suite struct SealTests {
  private func seal(_ f: LedgerFixture) throws -> LedgerSeal { try f.ledger.logProver(withReceipts: false).seal }

  private func hash(_ text: String) throws -> TreeHash {
    try #require(bytesFromBase64(text).flatMap { TreeHash($0) })
  }

  private func mode(_ path: String) -> UInt32 {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func aSealIsOfTheLedgerAndItsOwnKey() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 2)
    let first = try seal(f)
    let uid = try f.texts("SELECT store_uid FROM v_meta")[0]
    #expect(
      first.origin == "transfers/\(uid)" && first.leaves == 6 && first.publicKey?.hasPrefix("transfers/\(uid)+") == true
    )
    #expect(mode(f.path + ".key") == 0o600)
    #expect(try seal(f) == first)
    let same = try f.ledger.compare(seal: first.note)
    #expect(same.findings == [] && same.signature == .valid && same.leaves == 6)
    try f.ledger.write { try $0.recordEvent("told", batch: nil, file: nil, detail: "more") }
    #expect(try f.ledger.compare(seal: first.note).findings == [])
    let later = try f.ledger.logProver(withReceipts: false)
    let proof = try #require(try f.ledger.consistency(from: first.note, to: later).proof)
    let heads = try [first, later.seal].map { try hash($0.head) }
    let hashes = try proof.proof.map { try hash($0) }
    #expect(ProofCheck.isConsistent(6, heads[0], 7, heads[1], proof: hashes))
  }

  @Test func anEmptyLogIsSealedToo() throws {
    let f = try LedgerFixture()
    let empty = try seal(f)
    #expect(empty.leaves == 0 && empty.head == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    try LogTests.send(f, 1)
    #expect(try f.ledger.compare(seal: empty.note).findings == [])
  }

  @Test func theSealOfALostKeyIsComparedByItsHead() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    let before = try seal(f)
    unlink(f.path + ".key")
    #expect(try f.ledger.compare(seal: before.note).signature == .unknown)
    let after = try seal(f)
    #expect(after.head == before.head && after.origin == before.origin && after.publicKey != before.publicKey)
    #expect(try f.ledger.compare(seal: before.note).findings == [])
  }

  @Test func aKeyThatOthersMayReadIsNotUsed() throws {
    let f = try LedgerFixture()
    _ = try seal(f)
    chmod(f.path + ".key", 0o640)
    let error = #expect(throws: TransferError.self) { _ = try seal(f) }
    #expect(error?.kind == .storeUnsuitable)
  }

  @Test(arguments: ["PRIVATE+KEY+transf", "nonsense\n"])
  func aDamagedKeyIsNotReplaced(_ text: String) throws {
    let f = try LedgerFixture()
    let first = try seal(f)
    let genuine = try fileBytes(f.path + ".key")
    unlink(f.path + ".key")
    try writeBytes(Array(text.utf8), to: f.path + ".key")
    let error = #expect(throws: TransferError.self) { _ = try seal(f) }
    #expect(error?.kind == .storeUnsuitable && error?.remedy.contains("restore a copy") == true)
    #expect(try fileBytes(f.path + ".key") == Array(text.utf8))
    unlink(f.path + ".key")
    try writeBytes(genuine + Array(text.utf8), to: f.path + ".key")
    #expect(try seal(f) == first)
  }

  @Test func theKeyIsMadeAsAWhole() throws {
    let f = try LedgerFixture()
    _ = try seal(f)
    let text = String(decoding: try fileBytes(f.path + ".key"), as: UTF8.self)
    #expect(text.hasPrefix("PRIVATE+KEY+transfers/") && text.split(separator: "\n").count == 1)
    #expect(
      try names(in: f.folder).filter { $0.contains(".key") } == ["\(f.path.split(separator: "/").last ?? "").key"])
  }

  private func names(in folder: String) throws -> [String] {
    let directory = try #require(opendir(folder))
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }

  @Test func aLogThatItsRowsContradictIsNotSealed() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    try f.shell("DROP TRIGGER event_fixed; UPDATE event SET detail = 'another'")
    try f.shell("DROP TRIGGER receipt_fixed; UPDATE receipt SET etag = 'another'")
    let error = #expect(throws: TransferError.self) { _ = try seal(f) }
    #expect(error?.kind == .storeCorrupt && error?.cause.contains("is not what was logged") == true)
    #expect(mode(f.path + ".key") == 0)
  }

  @Test func aSealIsComparedWithAKeyThatWasGiven() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    let kept = try seal(f)
    unlink(f.path + ".key")
    let own = try f.ledger.compare(seal: kept.note, key: kept.publicKey)
    #expect(own.signature == .valid && own.findings == [])
    let other = try f.ledger.compare(seal: kept.note, key: try seal(f).publicKey)
    #expect(other.signature == .unknown && other.findings.count == 1)
    let error = #expect(throws: TransferError.self) { _ = try f.ledger.compare(seal: kept.note, key: "nonsense") }
    #expect(error?.kind == .usage)
  }

  @Test func receiptsAreProvenByASealThatWasKept() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 3)
    let kept = try seal(f)
    try f.ledger.write { try $0.recordEvent("told", batch: nil, file: nil, detail: "more") }
    unlink(f.path + ".key")
    let prover = try #require(try f.ledger.logProver(sealedAs: kept.note).prover)
    #expect(prover.seal.note == kept.note && prover.seal.publicKey == nil && mode(f.path + ".key") == 0)
    let page = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 10, by: prover) }
    #expect(page.receipts.count == 3 && page.receipts.allSatisfy { $0.proof.hasSuffix("\n\n" + kept.note) })
    let forged = try f.ledger.logProver(sealedAs: kept.note.replacing("\n8\n", with: "\n99\n"))
    #expect(kept.leaves == 8 && forged.prover == nil && forged.comparison.findings.count == 1)
  }

  @Test func aRowThatChangedMeanwhileGetsNoProof() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    let prover = try f.ledger.logProver(withReceipts: true)
    try f.shell("DROP TRIGGER receipt_fixed; UPDATE receipt SET etag = 'another'")
    let error = #expect(throws: TransferError.self) {
      _ = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 10, by: prover) }
    }
    #expect(error?.kind == .storeCorrupt)
  }

  @Test(arguments: ["", "nonsense", "transfers/x\n1\nAAAA\n\n— x AAAAAAAA\n"])
  func whatIsNoSealIsRefused(_ text: String) throws {
    let f = try LedgerFixture()
    let error = #expect(throws: TransferError.self) { _ = try f.ledger.compare(seal: text) }
    #expect(error?.kind == .usage)
  }

  @Test func theSealOfAnotherLedgerIsRefused() throws {
    let (f, other) = (try LedgerFixture(), try LedgerFixture())
    try other.shell("DROP TRIGGER store_meta_fixed; UPDATE store_meta SET uid = randomblob(16)")
    let foreign = try seal(other)
    let error = #expect(throws: TransferError.self) { _ = try f.ledger.compare(seal: foreign.note) }
    #expect(error?.kind == .usage)
  }

  @Test func aForgedSealIsFound() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    let genuine = try seal(f)
    let forged = genuine.note.replacing("\n4\n", with: "\n3\n")
    let found = try f.ledger.compare(seal: forged)
    #expect(found.signature == .invalid && found.findings.count == 2)
  }

  @Test(arguments: [LedgerCopy.backup, .snapshot])
  func aCopyIsAnotherLogWithTheSameBeginning(_ kind: LedgerCopy) throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 2)
    let original = try seal(f)
    let path = f.folder + "/copy.db"
    _ = try Ledger.copy(f.path, as: kind, to: path, replacing: false, isCancelled: { false })
    let copy = try Ledger.open(at: path, mode: .readOnly, clock: f.clock)
    defer { copy.close() }
    #expect(try copy.read { try $0.check() } == [])
    let own = try copy.logProver(withReceipts: false).seal
    #expect(own.head == original.head && own.origin != original.origin)
    let compared = try copy.compare(seal: original.note)
    #expect(compared.findings == [] && compared.signature == .unknown)
  }

  @Test func aLedgerThatWasPutBackGoesOnAsAnotherLog() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    let before = try seal(f)
    f.ledger.close()
    let old = try fileBytes(f.path)
    try f.restart {}
    try f.ledger.write { try $0.recordEvent("told", batch: nil, file: nil, detail: "after") }
    try f.restart {
      unlink(f.path)
      try writeBytes(old, to: f.path)
    }
    #expect(try f.texts("SELECT detail FROM event ORDER BY id DESC LIMIT 1")[0].contains("files are in doubt"))
    #expect(try f.findings() == [])
    let after = try seal(f)
    #expect(after.origin != before.origin && after.leaves == before.leaves + 1)
    #expect(try f.ledger.compare(seal: before.note).findings == [])
  }

  @Test func everyReceiptIsProven() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 300)
    let prover = try f.ledger.logProver(withReceipts: true)
    let note = try #require(SignedNote(prover.seal.note))
    let checkpoint = try #require(Checkpoint(note.text))
    var (after, seen) = (Int64(0), 0)
    while true {
      let page = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: after, limit: 70, by: prover) }
      for receipt in page.receipts {
        seen += 1
        #expect(receipt.stored.path == NameBytes("/src/f\(seen - 1)") && receipt.stored.file.rawValue == Int64(seen))
        let lines = receipt.proof.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "c2sp.org/tlog-proof@v1" && lines[1] == "index \(receipt.index)")
        let path = try lines[2...].prefix { !$0.isEmpty }.map { try hash(String($0)) }
        #expect(receipt.proof.hasSuffix("\n\n" + prover.seal.note))
        #expect(
          ProofCheck.includes(
            TreeHasher().leaf(receipt.leaf), at: receipt.index, in: checkpoint.size, head: checkpoint.head, path: path))
      }
      guard let last = page.last else { break }
      after = last
    }
    #expect(seen == 300)
  }

  @Test func aReceiptThatCameLaterIsLeftOut() throws {
    let f = try LedgerFixture()
    let prover = try f.ledger.logProver(withReceipts: true)
    try LogTests.send(f, 1)
    let page = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 10, by: prover) }
    #expect(page.receipts == [] && page.last == 1)
  }
}
