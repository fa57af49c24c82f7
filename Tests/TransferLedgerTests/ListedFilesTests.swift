import Testing
import TransferModel

@testable import TransferLedger

/// Files in a listing that another batch already holds.
@Suite struct ListedFilesTests {
  private let f: LedgerFixture
  init() throws { f = try LedgerFixture() }

  private func download(_ key: String, _ path: String) -> NewDownload {
    NewDownload(path: NameBytes(path), key: NameBytes(key))
  }

  private func target() -> AdmissionTarget {
    let settings = BatchSettings(destination: "get:there", download: DownloadSettings(folder: NameBytes("/in")))
    let batch = NewBatch(name: nil, settings: settings, protocolName: "get", destination: "get:there")
    return AdmissionTarget(batch, since: .beginning, wallMs: f.clock.wallMs)
  }

  /// An active listing with its own batch, and the files that its `pull` counts.
  private func listing(_ run: RunID) throws -> (id: FileID, added: AddedFiles) {
    let mark = try f.ledger.read { try $0.addedMark() }
    let (target, file) = (target(), download("p/", "/in/"))
    return try f.ledger.write { tx in
      let done = try tx.admitDownloads([file], to: target)
      let id = try #require(try tx.claimFiles(run, limit: .max).first { $0.key.isFolder }).id
      return (id, AddedFiles(since: mark, batch: done.batch, files: done.files))
    }
  }

  private func admit(_ files: [NewDownload], by listing: FileID, _ run: RunID) throws -> Int {
    var page = ListedFiles()
    page.files = files
    let all = page
    return try f.ledger.write { try $0.admitListed(all, by: listing, run) }
  }

  private func states(_ added: AddedFiles) throws -> [FileState: Int] {
    try f.ledger.read { [clock = f.clock] in try $0.totals(of: added, nowMs: clock.wallMs) }.files.byState
  }

  /// It counts once, however often it is listed, in addition to the files that the listing itself recorded.
  @Test func whatWaitsInAnotherBatchCounts() throws {
    let (run, target, waiting) = (try f.startRun(), target(), download("p/a", "/in/a"))
    _ = try f.ledger.write { try $0.admitDownloads([waiting], to: target) }
    let (id, added) = try listing(run)
    for _ in 0..<2 { _ = try admit([waiting, download("p/b", "/in/b")], by: id, run) }
    #expect(try states(added) == [.active: 2, .pending: 1])
    #expect(try f.texts("SELECT * FROM listed_file") == ["2 1"])
  }

  /// The file is already waiting to be fetched to another place, so nothing would write it to the place wanted now.
  @Test func whatIsFetchedElsewhereIsRefusedHere() throws {
    let (run, target, waiting) = (try f.startRun(), target(), download("p/a", "/other/a"))
    _ = try f.ledger.write { try $0.admitDownloads([waiting], to: target) }
    let (id, added) = try listing(run)
    #expect(try admit([download("p/a", "/in/a")], by: id, run) == 1)
    #expect(try states(added) == [.active: 1, .failed: 1])
    #expect(
      try f.texts("SELECT cause, message FROM file WHERE path = CAST('/in/a' AS BLOB)").first?.contains("/other/a")
        == true)
    #expect(try f.texts("SELECT state FROM file WHERE id = 1") == ["active"])
    #expect(try f.findings() == [])
  }

  /// As long as a listing is waiting, backing off or active, the amount of work is unknown.
  @Test func aListingThatIsLeftIsCounted() throws {
    let (run, target) = (try f.startRun(), target())
    let pages = ["p/", "x"].map { download($0, "/in/" + $0) }
    _ = try f.ledger.write { try $0.admitDownloads(pages, to: target) }
    func isCounted() throws -> Bool { try f.ledger.read { try $0.workSize() }.hasListings }
    #expect(try isCounted())
    try f.ledger.write { tx in
      let claimed = try tx.claimFiles(run, limit: .max)
      let listing = try #require(claimed.first { $0.key.isFolder }).id
      #expect(try LedgerReader(db: tx.db).workSize().hasListings)
      _ = try tx.releaseFile(listing, run, notBeforeMs: tx.wallMs + 60_000, code: .netReset, isFailure: true)
    }
    #expect(try isCounted())
    f.clock.advance(ms: 61_000)
    try f.ledger.write { tx in
      let listing = try #require(try tx.claimFiles(run, limit: .max).first { $0.key.isFolder }).id
      #expect(try tx.endListing(listing, run, detail: "0 listed").isApplied)
    }
    #expect(try !isCounted())
  }
}
