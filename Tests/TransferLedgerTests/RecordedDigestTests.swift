import TransferModel
import Testing

@testable import TransferLedger

/// A SHA-256 that a receipt has is used for the same file when it is sent once more, to another destination or after a
/// newer version of another file.
@Suite struct RecordedDigestTests {
  private let f: LedgerFixture
  private static let digest = Digest(text: "sha256:" + String(repeating: "ab", count: 32))!

  init() throws {
    f = try LedgerFixture()
    let run = try f.startRun()
    try add(Self.source, to: "put:one", records: true)
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      #expect(file.sha256 == nil)
      try tx.sendAll(file.id, run)
      _ = try tx.completeFile(file.id, run, proof, sha256: Self.digest)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  private static let source = NewFile(
    path: NameBytes("/src/a"), key: NameBytes("a"),
    identity: SourceIdentity(size: 10, mtimeNs: 1, ctimeNs: 2, inode: 7, device: 3, boot: 5))

  private func add(_ file: NewFile, to place: String, records: Bool) throws {
    var settings = BatchSettings(destination: place)
    if records { settings.recordSHA256 = true }
    try f.ledger.write { [settings] tx in
      let batch = try tx.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place))
      _ = try tx.admit(file, to: batch)
    }
  }

  private func claimed() throws -> Digest? {
    let run = try f.startRun()
    return try f.ledger.write { try $0.claimAndPlan(run) }.sha256
  }

  @Test func itIsKnownForAnotherDestination() throws {
    try add(Self.source, to: "put:other", records: true)
    #expect(try claimed() == Self.digest)
  }

  @Test func onlyABatchThatRecordsItNeedsIt() throws {
    try add(Self.source, to: "put:other", records: false)
    #expect(try claimed() == nil)
  }

  /// Nobody can set the ctime; a device has its number, and an inode its meaning, within one boot.
  @Test func notForAnotherVersionOrFile() throws {
    let changes: [(inout SourceIdentity) -> Void] = [
      { $0.size += 1 }, { $0.mtimeNs += 1 }, { $0.ctimeNs += 1 }, { $0.inode += 1 }, { $0.device += 1 },
      { $0.boot += 1 },
    ]
    for (number, change) in changes.enumerated() {
      var other = Self.source
      change(&other.identity)
      try add(other, to: "put:\(number)", records: true)
    }
    let run = try f.startRun()
    let files = try f.ledger.write { try $0.claimFiles(run, limit: 10) }
    #expect(files.count == changes.count && files.allSatisfy { $0.sha256 == nil })
  }
}
