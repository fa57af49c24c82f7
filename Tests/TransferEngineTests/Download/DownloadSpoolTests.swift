import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// The files of a list, before any of them is recorded.
@Suite struct DownloadSpoolTests {
  private func entry(_ url: String, _ path: String, _ digest: UInt32? = nil) throws -> DownloadEntry {
    let expected = ExpectedContent(size: 5, digests: digest.map { [Digest(crc32c: $0)] } ?? [])
    return DownloadEntry(url: try DownloadURL(url), path: NameBytes(path), expected: expected)
  }

  private func spool(_ entries: [DownloadEntry], ignoresCase: Bool = false) throws -> DownloadSpool {
    let spool = try DownloadSpool(ignoresCase: { ignoresCase })
    for entry in entries { try spool.append(entry) }
    return spool
  }

  private func cause(_ entries: [DownloadEntry], ignoresCase: Bool = false) throws -> String? {
    let spool = try spool(entries, ignoresCase: ignoresCase)
    do throws(TransferError) {
      try spool.check()
      return nil
    } catch {
      #expect(error.kind == .usage)
      return error.cause
    }
  }

  @Test func allComeBackInOrderAPageAtATime() throws {
    let entries = try (0..<7).map { try entry("http://h\($0 % 2)/d/\($0)?q=\($0)", "d/\($0)", UInt32($0)) }
    let spool = try spool(entries)
    try spool.check()
    var pages: [[DownloadEntry]] = []
    #expect(try spool.replay(pageSize: 3) { pages.append($0) } == 0)
    #expect(pages.map(\.count) == [3, 3, 1])
    #expect(pages.flatMap(\.self) == entries)
    #expect(spool.origins.map(\.description) == ["http://h0", "http://h1"])
  }

  @Test func whatIsNamedAgainIsTakenOnce() throws {
    let entries = try [entry("http://h/a", "a"), entry("http://h/b", "b"), entry("http://h/a", "a")]
    let spool = try spool(entries)
    try spool.check()
    var all: [DownloadEntry] = []
    #expect(try spool.replay { all += $0 } == 1)
    #expect(all == Array(entries[..<2]))
  }

  @Test func twoSourcesOfOneFileAreRefused() throws {
    #expect(
      try cause([entry("http://h/a", "x"), entry("http://h/b", "x")])?.contains("both would be this file") == true)
    #expect(try cause([entry("http://h/a", "x"), entry("http://g/a", "x")]) != nil)
    #expect(try cause([entry("http://h/a", "x", 1), entry("http://h/a", "x", 2)])?.contains("named twice") == true)
    #expect(try cause([entry("http://h/a", "x"), entry("http://h/b", "X")]) == nil)
  }

  /// Other paths do not help: the ledger has one row for the URL.
  @Test(arguments: [("y", "list it once, and copy the file afterwards"), ("x", "list it once")])
  func oneURLForTwoEntriesIsRefusedWithAWayOut(_ path: String, _ remedy: String) throws {
    let spool = try spool([entry("http://h/a", "x", 1), entry("http://h/a", path, 2)])
    let error = #expect(throws: TransferError.self) { try spool.check() }
    #expect(error?.cause.hasPrefix("http://h/a, named twice: ") == true)
    #expect(error?.remedy == "\(remedy); nothing was recorded")
  }

  @Test func namesOfDifferentCaseAreOneWhereTheFileSystemSaysSo() throws {
    let entries = try [entry("http://h/a", "D/Ä"), entry("http://h/b", "d/ä")]
    #expect(try cause(entries) == nil)
    #expect(try cause(entries, ignoresCase: true)?.contains("does not distinguish their names") == true)
  }

  /// The test for case sensitivity creates a temporary file, which a kill would leave behind.
  @Test(arguments: [(["a", "b", "B2/c"], 0), (["a", "d/x", "d/x/y", "a"], 0), (["a", "A", "b", "B", "c/B", "C"], 1)])
  func theFileSystemIsAskedOnlyAboutNamesThatDifferInCase(_ paths: [String], _ times: Int) throws {
    var asked = 0
    let spool = try DownloadSpool(ignoresCase: {
      asked += 1
      return false
    })
    for path in paths { try spool.append(try entry("http://h/\(path)", path)) }
    _ = try? spool.check()
    #expect(asked == times)
  }

  @Test(arguments: [["a", "a/b"], ["a/b/c", "x", "a"], ["a/b/c", "a/b"], ["A", "a/b"]])
  func aFileThatIsAFolderOfAnotherIsRefused(_ paths: [String]) throws {
    let entries = try paths.enumerated().map { try entry("http://h/\($0)", $1) }
    #expect(try cause(entries, ignoresCase: true)?.contains("folder of this name") == true)
    #expect((try cause(entries) == nil) == (paths[0] == "A"))
  }

  @Test func filesOfOneFolderAreNoConflict() throws {
    let entries = try (0..<2_000).map { try entry("http://h/\($0)", "a\($0 % 3)/b/\($0)") }
    #expect(try cause(entries) == nil)
  }
}
