import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransfersCLI

/// `--format html` for more rows than fit into one page.
@Suite struct PagedOutputTests {
  private static let count = 3500
  let program: BuiltProgram
  private let store: String
  private var page: String { program.folder.path + "/page.html" }

  /// A ledger of pending files with long names.
  init() throws {
    program = try BuiltProgram()
    store = program.folder.path + "/ledger.db"
    let ledger = try Ledger.open(at: store, mode: .create, clock: StillClock(1_763_632_800_000))
    defer { ledger.close() }
    let batch = NewBatch(
      settings: BatchSettings(destination: "s3://bucket/p/"), protocolName: "s3", destination: "s3://bucket/p/")
    let target = AdmissionTarget(batch, since: try ledger.read { try $0.addedMark() }, wallMs: 1_763_632_800_000)
    for start in stride(from: 1, through: Self.count, by: 500) {
      var rows = AdmissionPage()
      for number in start..<start + 500 {
        let name = Array("\(number % 7)\(String(repeating: "x", count: 200))\(number)".utf8)
        (Array("/data/".utf8) + name).withUnsafeBytes { path in
          name.withUnsafeBytes { key in
            let identity = SourceIdentity(size: Int64(number), mtimeNs: 1, ctimeNs: 1, inode: 7, device: 8)
            rows.append(path: path, key: key, identity, mode: 0o644)
          }
        }
      }
      let page = rows
      _ = try ledger.write { try $0.admit(page, to: target) }
    }
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--format", "html", "--store", store]).map { Array($0.utf8) })
  }

  private func ids(_ html: String) -> [Int] {
    html.matches(of: /<tr><td>f([0-9]+)<td/).compactMap { Int($0.output.1) }
  }

  /// The pages in the folder, first to last.
  private func pages() throws -> [String] {
    var pages = [try readText(page)]
    while access(program.folder.path + "/page-\(pages.count + 1).html", F_OK) == 0 {
      pages.append(try readText(program.folder.path + "/page-\(pages.count + 1).html"))
    }
    return pages
  }

  private var temporaries: [String] {
    guard let directory = opendir(program.folder.path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasPrefix(".transfers-") { names.append(name) }
    }
    return names
  }

  @Test func everyFileIsOnAPageInAFile() throws {
    for words in [["list", "files"], ["report", "summary"]] {
      let outcome = try run(words[0], words[1], "-o", page)
      #expect(outcome.code == 0 && outcome.out.isEmpty && outcome.err.isEmpty, "\(outcome.err)")
      let pages = try pages()
      #expect(pages.count > 2)
      #expect(pages.flatMap(ids) == Array(1...Self.count), "\(words)")
      for page in pages { #expect(page.utf8.count < 1_000_000) }
    }
    #expect(temporaries.isEmpty)
  }

  @Test func standardOutputSaysWhatIsMissing() throws {
    let html = try run("list", "files").out
    #expect(html.contains("need scripts; without them this page stays small: with -o FILE further pages have them"))
    #expect(!html.contains("page-2"))
  }

  @Test func aShorterReportRemovesFormerPages() throws {
    #expect(try run("list", "files", "-o", page).code == 0)
    #expect(try pages().count > 2)
    #expect(try run("list", "files", "f1-f3", "-o", page).code == 0)
    #expect(try pages().map(ids) == [[1, 2, 3]])
    #expect(access(program.folder.path + "/page-3.html", F_OK) != 0)
  }

  @Test func aFileOfSomebodyElseStays() throws {
    let other = program.folder.path + "/page-2.html"
    try writeFile(other, Array("<!doctype html>\n<html lang=\"en\"><p>mine".utf8))
    try writeFile(page, Array("old".utf8))
    let outcome = try run("list", "files", "-o", page)
    #expect(outcome.code == 1)
    #expect(
      outcome.err.contains("page-2.html\": the file exists, and is not a page of such a report"), "\(outcome.err)")
    #expect(try readText(page) == "old" && readText(other).hasSuffix("mine"))
    #expect(try run("list", "files", "f1", "-o", page).code == 0)
    #expect(try readText(other).hasSuffix("mine"))
    #expect(temporaries.isEmpty)
  }

  /// Pages get their names when all rows were read, long after they were written.
  @Test func aFileThatCameMeanwhileStays() throws {
    let pages = PageFiles(beside: NameBytes(page), store: nil)
    pages.write(2, "second")
    pages.write(3, "third")
    try pages.check()
    let other = program.folder.path + "/page-3.html"
    try writeFile(other, Array("mine".utf8))
    #expect(throws: CommandFailure.self) { try pages.place() }
    pages.remove()
    #expect(try readText(other) == "mine" && access(program.folder.path + "/page-2.html", F_OK) != 0)
    #expect(temporaries.isEmpty)
  }

  @Test func aPageThatCannotBeReplacedKeepsTheOldReport() throws {
    try writeFile(page, Array("old".utf8))
    #expect(mkdir(program.folder.path + "/page-3.html", 0o700) == 0)
    #expect(try run("list", "files", "-o", page).code == 1)
    #expect(try readText(page) == "old" && access(program.folder.path + "/page-2.html", F_OK) != 0)
    #expect(temporaries.isEmpty)
  }

  @Test func thePagesOfServeAreChosenByAParameter() throws {
    let serving = try ServeTests.serve(program, ["--store", store])
    func shown(_ target: String) throws -> [Int] { try ids(serving.ask("GET", target).body) }
    #expect(try shown("/files") == Array(1...1000))
    #expect(
      try serving.ask("GET", "/files?state=pending").body.contains("href=\"?state=pending&amp;page=2\">Next rows"))
    #expect(try shown("/files?page=2") == Array(1001...2000))
    #expect(try shown("/files?page=4") == Array(3001...Self.count))
    #expect(try shown("/files?page=2&limit=1200") == Array(1001...1200))
    #expect(try serving.ask("GET", "/files?page=5").status == 404)
    for bad in ["/files?page=0", "/files?page=x", "/files?page=1&page=2", "/api/v1/files?page=2"] {
      #expect(try serving.ask("GET", bad).status == 400, "\(bad)")
    }
    serving.running.signal(SIGTERM)
    #expect(try serving.running.wait().code == 0)
  }
}
