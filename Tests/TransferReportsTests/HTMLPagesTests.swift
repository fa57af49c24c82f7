import Testing
import TransferModel

@testable import TransferReports

/// Rows that do not fit into a page are on further pages.
@Suite struct HTMLPagesTests {
  private static let columns: [Column<Int>] = [.text("id", "Id") { "f\($0)" }, .integer("size", "Size") { $0 * 7 }]
  private let header = ReportHeader(store: StoreIdentity(path: "/l.db"), generatedMs: 0)

  private func report(_ rows: ClosedRange<Int>, _ other: ClosedRange<Int>? = nil) -> Report {
    let named: [(String, ClosedRange<Int>?)] = [("first", other), ("files", rows)]
    let tables = named.compactMap { key, rows in
      rows.map { ReportSection(key, key, .table(FigureTable(Self.columns, Array($0)), TableLook())) }
    }
    return Report("transfers.test/1", tables)
  }

  /// The rows that a reader without scripts sees.
  private func ids(_ html: String) -> [Int] {
    html.matches(of: /<tr><td>f([0-9]+)<td/).compactMap { Int($0.output.1) }
  }

  private struct Made {
    var first = ""
    var rest: [HTMLPages.Page] = []
  }

  private func made(
    _ report: Report, then more: ClosedRange<Int>? = nil, budget: Int = 2_000, links: HTMLPageLinks?,
    live: HTMLLive? = nil
  ) -> Made {
    var pages = HTMLPages(header, live: live, links: links, rowBudget: budget)
    var all = pages.begin(report, continuing: more == nil ? nil : "files")
    // In several parts, as rows are read.
    for row in more.map(Array.init) ?? [] { all += pages.append(FigureTable(Self.columns, [row])) }
    let (first, rest) = pages.end()
    return Made(first: first, rest: all + rest)
  }

  private let links = HTMLPageLinks(file: NameBytes("/tmp/a b.html"))

  @Test func eachRowIsOnOnePageWithoutScripts() {
    let made = made(report(1...150), then: 151...400, links: links)
    let shown = ids(made.first)
    #expect(!shown.isEmpty && shown.count < 150 && made.rest.count > 3)
    #expect(shown + made.rest.flatMap { ids($0.html) } == Array(1...400))
    #expect(made.rest.map(\.number) == Array(2...(made.rest.count + 1)))
    let frame = HTMLReport.render(Report("transfers.test/1", []), header).utf8.count + 1_000
    for page in made.rest { #expect(page.html.utf8.count < frame + 2_000, "page \(page.number)") }
  }

  @Test func pagesReferToEachOther() throws {
    let made = made(report(1...400), links: links)
    let last = try #require(made.rest.last)
    for page in made.rest {
      let number = page.number
      #expect(page.html.contains("<a href=\"a%20b.html\">First page</a>"))
      let before = number == 2 ? "a%20b.html" : "a%20b-\(number - 1).html"
      #expect(page.html.contains("<a href=\"\(before)\">Previous</a>"))
      #expect(page.html.contains("<a href=\"a%20b-\(number + 1).html\">Next</a>") == (number < last.number))
      #expect(page.html.hasPrefix("\(HTMLPages.mark)\(number)\""))
      let range = "\(ids(page.html).first ?? 0) to \(ids(page.html).last ?? 0)"
      #expect(page.html.contains("Files, rows \(range)</h2>"))
      #expect(made.first.contains("<a href=\"a%20b-\(number).html\">\(range)</a>"))
    }
    #expect(made.first.contains("to 400 are on further pages (with scripts, this page has the first"))
    #expect(!made.first.contains("omitted") && !made.first.hasPrefix(HTMLPages.mark))
  }

  /// All rows are packed: only a reader without scripts needs the further pages.
  @Test func whatAScriptShowsIsNotAnnounced() {
    let made = made(report(1...100), links: links)
    #expect(ids(made.first) + made.rest.flatMap { ids($0.html) } == Array(1...100))
    #expect(made.first.contains("<noscript><p class=\"rest\">Rows "))
    #expect(made.first.contains("data-of=\"files\""))
  }

  @Test func aTableThatFitsHasNoFurtherPage() {
    let made = made(report(1...10), then: nil, links: links)
    #expect(made.rest.isEmpty && !made.first.contains("further") && ids(made.first) == Array(1...10))
  }

  @Test func twoLongTablesFollowEachOther() {
    let made = made(report(1001...1200, 1...100), links: links)
    #expect(made.rest.map(\.number) == Array(2...(made.rest.count + 1)))
    let rows = Set(ids(made.first) + made.rest.flatMap { ids($0.html) })
    #expect(rows == Set(Array(1...100) + Array(1001...1200)))
    #expect(made.rest.dropLast().allSatisfy { $0.html.contains(">Next</a>") })
  }

  @Test func withoutFurtherPagesTheOmittedRowsAreCounted() {
    let made = made(report(1...200), then: 201...400, links: nil)
    let packed = made.first.split(separator: "data-of=\"files\">").last?.split(separator: "</script>").first ?? ""
    let shown = ids(made.first).count + packed.split(separator: "],[2,").count
    #expect(made.first.contains("<p class=\"rest\">\(400 - shown) more rows are omitted"), "\(shown)")
    #expect(made.rest.isEmpty)
  }

  /// A page of `serve` needs only the rows up to its end.
  @Test func aPageIsCompleteAsSoonAsTheNextBegins() {
    let live = HTMLLive(links: [], path: "/files", mayControl: false, tag: "")
    let links = HTMLPageLinks(rowsPerPage: 10) { "?page=\($0)" }
    var pages = HTMLPages(header, live: live, links: links)
    let begun = pages.begin(report(1...10), continuing: "files")
    #expect(begun.isEmpty && !pages.isComplete(1))
    let next = pages.append(FigureTable(Self.columns, Array(11...20)))
    #expect(next.isEmpty && pages.isComplete(1) && !pages.isComplete(2))
    let last = pages.append(FigureTable(Self.columns, [21]))
    #expect(last.map { ids($0.html) } == [Array(11...20)])
    #expect(pages.isComplete(2) && !pages.isComplete(3))
    let (first, rest) = pages.end()
    #expect(ids(first) == Array(1...10) && first.contains("<a href=\"?page=2\">Next rows</a>"))
    #expect(rest.map { ids($0.html) } == [[21]])
  }

  @Test(arguments: [
    ("page.html", "page-3.html"), ("/a.b/page", "/a.b/page-3"), ("/a/.page", "/a/.page-3"),
    ("x.tar.html", "x.tar-3.html"),
  ])
  func namesOfFurtherPages(_ first: String, _ third: String) {
    #expect(HTMLPageLinks.name(3, of: NameBytes(first)) == NameBytes(third))
    #expect(HTMLPageLinks.name(1, of: NameBytes(first)) == NameBytes(first))
  }
}
