import Testing
import TransferModel

@testable import TransferLedger

/// Downloads into a folder that does not distinguish names that differ only in case: only one of them is fetched.
@Suite struct FoldedNamesTests {
  private let f: LedgerFixture
  private let run: RunID
  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  private func download(_ name: String, folds: Bool = true) -> NewDownload {
    let path = NameBytes("/in/" + name)
    return NewDownload(path: path, key: NameBytes("p/" + name), folded: folds ? path.caseFolded : nil)
  }

  private func target() -> AdmissionTarget {
    let settings = BatchSettings(destination: "get:there", download: DownloadSettings(folder: NameBytes("/in")))
    let batch = NewBatch(name: nil, settings: settings, protocolName: "get", destination: "get:there")
    return AdmissionTarget(batch, since: .beginning, wallMs: f.clock.wallMs)
  }

  private func add(_ files: [NewDownload]) throws {
    let target = target()
    _ = try f.ledger.write { try $0.admitDownloads(files, to: target) }
  }

  /// An active listing.
  private func listing() throws -> FileID {
    try add([NewDownload(path: NameBytes("/in/"), key: NameBytes("p/"))])
    return try f.ledger.write { [run] in try #require(try $0.claimFiles(run, limit: .max).first { $0.key.isFolder }).id
    }
  }

  private func page(_ names: [String], folds: Bool = true, of listing: FileID) throws {
    var page = ListedFiles()
    page.files = names.map { download($0, folds: folds) }
    _ = try f.ledger.write { [page, run] in try $0.admitListed(page, by: listing, run) }
  }

  private func rows() throws -> [String] {
    try f.texts(
      "SELECT cast(key AS TEXT), state, cause, live FROM file WHERE key <> CAST('p/' AS BLOB) ORDER BY id")
  }

  @Test func theSecondOfTwoPagesFails() throws {
    let listing = try listing()
    try page(["a.txt", "b.txt"], of: listing)
    try page(["A.TXT", "c.txt"], of: listing)
    #expect(
      try rows() == [
        "p/a.txt pending - 1", "p/b.txt pending - 1", "p/A.TXT failed policy.exists -", "p/c.txt pending - 1",
      ])
    #expect(
      try f.texts("SELECT message FROM file WHERE state = 'failed'") == [
        "file f2, from \"p/a.txt\", is fetched to \"/in/a.txt\", which the file system of the target folder treats as the same name"
      ])
    #expect(try f.findings() == [])
  }

  @Test func whereCaseCountsBothAreFetched() throws {
    let listing = try listing()
    try page(["a.txt"], folds: false, of: listing)
    try page(["A.TXT"], folds: false, of: listing)
    #expect(try rows() == ["p/a.txt pending - 1", "p/A.TXT pending - 1"])
  }

  /// A person cannot retry the second file while the first one has the name.
  @Test func itIsNotRepeatedBesideTheFirst() throws {
    let listing = try listing()
    try page(["a.txt"], of: listing)
    try page(["A.TXT"], of: listing)
    _ = try f.ledger.control(.retry(startsOver: false), RowFilter())
    #expect(try rows() == ["p/a.txt pending - 1", "p/A.TXT failed policy.exists -"])
    _ = try f.ledger.control(.cancel, RowFilter.files([FileID(rawValue: 2)]))
    _ = try f.ledger.control(.retry(startsOver: false), RowFilter.files([FileID(rawValue: 3)]))
    #expect(try rows() == ["p/a.txt cancelled policy.cancelled -", "p/A.TXT pending - 1"])
    #expect(try f.findings() == [])
  }

  /// Both have ended, and both are selected: the first is retried, and the others of the selection with it.
  @Test func ofTwoThatAreRetriedTheFirstContinues() throws {
    let listing = try listing()
    try page(["a.txt", "b"], of: listing)
    try page(["A.TXT"], of: listing)
    _ = try f.ledger.control(.cancel, RowFilter())
    _ = try f.ledger.control(.retry(startsOver: false), RowFilter())
    #expect(
      try rows().sorted() == ["p/A.TXT failed policy.exists -", "p/a.txt pending - 1", "p/b pending - 1"])
    #expect(try f.findings() == [])
  }

  @Test func anotherAddIsAnError() throws {
    try add([download("a.txt")])
    #expect(throws: TransferError.self) { try add([download("A.TXT")]) }
    try add([download("A.TXT", folds: false)])
  }

  /// The database itself enforces the rule, even against other programs.
  @Test func theLedgerHoldsNoTwo() throws {
    try add([download("a.txt"), download("b.txt")])
    #expect(throws: (any Error).self) {
      try f.shell("UPDATE file SET folded = (SELECT folded FROM file WHERE id = 1) WHERE id = 2")
    }
  }
}
