import TransferModel

/// How the pages of one report refer to each other.
package struct HTMLPageLinks: Sendable {
  /// Maximum number of rows of a table on a page; a page has fewer if they do not fit.
  package let rowsPerPage: Int
  let reference: @Sendable (Int) -> String

  /// `reference` gives the relative URL of a page by its number; 1 is the first page.
  package init(rowsPerPage: Int = .max, _ reference: @escaping @Sendable (Int) -> String) {
    (self.rowsPerPage, self.reference) = (rowsPerPage, reference)
  }

  /// For a page in a file, with its further pages beside it.
  package init(file: NameBytes) {
    self.init { number in
      let name = Self.name(number, of: file).bytes
      return HTMLText.percentEncoded(Array(name[((name.lastIndex(of: 0x2F) ?? -1) + 1)...]))
    }
  }

  /// `page-2.html` for the second page of `page.html`, in the same folder.
  package static func name(_ number: Int, of file: NameBytes) -> NameBytes {
    guard number > 1 else { return file }
    let bytes = file.bytes
    let start = (bytes.lastIndex(of: 0x2F) ?? -1) + 1
    let dot = bytes.lastIndex(of: 0x2E).flatMap { $0 > start ? $0 : nil } ?? bytes.count
    return NameBytes(Array(bytes[..<dot]) + Array("-\(number)".utf8) + Array(bytes[dot...]))
  }

  func link(_ number: Int, _ text: String) -> String {
    "<a href=\"\(HTMLText.escaped(reference(number)))\">\(HTMLText.escaped(text))</a>"
  }
}

/// A report as HTML: a page, and further pages with the rows that it does not show without scripts. Each is
/// self-contained and stays below a megabyte. Rows of the last table may be added while the pages are made, so that a
/// table of any length needs the memory of a page.
package struct HTMLPages: Sendable {
  /// A further page; its number is at least 2.
  package struct Page: Sendable {
    package let number: Int
    package let html: String
  }

  /// How every page begins, and how only further pages begin, before the number.
  package static let opening = "<!doctype html>\n<html lang=\"en\""
  package static let mark = opening + " data-page=\""

  private var first: HTMLReport
  private let header: ReportHeader
  private let live: HTMLLive?
  private let links: HTMLPageLinks?
  private let rowBudget: Int
  private var schema = ""
  private var open: HTMLFurtherPage?
  /// The tables that continue on further pages, and what is on each of these pages.
  private var tables: [HTMLLongTable] = []
  private var number = 1

  /// Without `links` there are no further pages: the page says how many rows it omits.
  package init(
    _ header: ReportHeader, live: HTMLLive? = nil, links: HTMLPageLinks?, rowBudget: Int = HTMLReport.rowBudget
  ) {
    (self.header, self.live, self.links, self.rowBudget) = (header, live, links, rowBudget)
    first = HTMLReport(left: rowBudget, isLive: live != nil, links: links)
  }

  /// Whether no more rows are needed for the page with this number.
  package func isComplete(_ page: Int) -> Bool { page == 1 ? open != nil : page <= number }

  /// The pages that are complete. If the table with the key `continuing` has more rows, they are added by ``append``.
  package mutating func begin(_ report: Report, continuing: String? = nil) -> [Page] {
    schema = report.schema
    first.append(report, continuing: continuing)
    tables = first.longTables
    var pages: [Page] = []
    for index in tables.indices {
      for row in tables[index].takeRows() { pages += add(row, to: index) }
    }
    return pages
  }

  /// More rows of the table that continues.
  package mutating func append(_ rows: FigureTable) -> [Page] {
    guard let last = tables.indices.last else { return [] }
    if links == nil { tables[last].omitted += rows.rows.count }
    return links == nil ? [] : rows.rows.flatMap { add($0, to: last) }
  }

  /// The first page, and the last of the others. `words` are put above everything else.
  package mutating func end(words: String? = nil) -> (first: String, rest: [Page]) {
    let rest = closed(hasNext: false)
    return (first.document(schema, header, live, words: words, tables), rest)
  }

  private mutating func add(_ row: [Cell], to index: Int) -> [Page] {
    guard let links else { return [] }
    let html = tables[index].table.row(row)
    var pages: [Page] = []
    if let page = open, page.table != index || page.isFull(for: html, rowBudget, links) {
      pages = closed(hasNext: true)
    }
    var page = open ?? HTMLFurtherPage(index, first: tables[index].nextRow)
    page.append(html)
    open = page
    return pages
  }

  /// Ends the page that is being filled.
  private mutating func closed(hasNext: Bool) -> [Page] {
    guard let page = open, let links else { return [] }
    open = nil
    number += 1
    tables[page.table].pages.append((number, page.first, page.last))
    let html = page.document(tables[page.table], number, hasNext: hasNext, schema, header, live, links)
    return [Page(number: number, html: html)]
  }
}

/// A table that does not fit into the first page.
struct HTMLLongTable {
  let id: String
  let title: String?
  let table: HTMLTable
  /// Without scripts, and with them.
  let rowsOnFirstPage, rowsWithScripts: Int
  /// The remark about the other rows, where there are no further pages.
  let whole: String
  /// Rows that are on no page.
  var omitted: Int
  fileprivate var pages: [(number: Int, first: Int, last: Int)] = []
  private var rows: ArraySlice<[Cell]>

  init(
    _ id: String, _ title: String?, _ table: HTMLTable, rowsOnFirstPage: Int, rowsWithScripts: Int,
    rest: ArraySlice<[Cell]>, omitted: Int, whole: String
  ) {
    (self.id, self.title, self.table, rows) = (id, title, table, rest)
    (self.rowsOnFirstPage, self.rowsWithScripts) = (rowsOnFirstPage, rowsWithScripts)
    (self.omitted, self.whole) = (omitted, whole)
  }

  fileprivate mutating func takeRows() -> ArraySlice<[Cell]> {
    defer { rows = [] }
    return rows
  }

  fileprivate var nextRow: Int { (pages.last?.last ?? rowsOnFirstPage) + 1 }

  /// Stands for the remark until the number of pages is known; escaped text has no NUL.
  var place: String { "\u{0}\(id)\u{0}" }

  /// Most links to further pages in one remark.
  private static let linkLimit = 100

  func remark(_ links: HTMLPageLinks?, isLive: Bool) -> String {
    guard let links else { return omitted > 0 ? Self.remark(omitted, "omitted, so that", whole) : "" }
    guard let first = pages.first, let last = pages.last else { return "" }
    if isLive { return "<p class=\"rest\">\(links.link(first.number, "Next rows"))</p>" }
    var places = pages.prefix(Self.linkLimit).map { links.link($0.number, "\($0.first) to \($0.last)") }
    if pages.count > Self.linkLimit { places += ["…", links.link(last.number, "\(last.first) to \(last.last)")] }
    let words = "<p class=\"rest\">Rows \(rowsOnFirstPage + 1) to \(last.last) are on further pages"
    if rowsWithScripts >= last.last { return "<noscript>\(words): \(places.joined(separator: ", "))</p></noscript>" }
    let shown =
      rowsWithScripts > rowsOnFirstPage ? " (with scripts, this page has the first \(rowsWithScripts) rows)" : ""
    return "\(words)\(shown): \(places.joined(separator: ", "))</p>"
  }

  static func remark(_ count: Int, _ why: String, _ whole: String) -> String {
    let verb = why.hasPrefix("need") ? "" : count == 1 ? "is " : "are "
    return "<p class=\"rest\">\(Quantity.count(count, "more row")) \(verb)\(why) this page stays small: "
      + "\(HTMLText.escaped(whole)) has all.</p>"
  }
}

/// A further page while it is filled.
private struct HTMLFurtherPage {
  let table: Int
  let first: Int
  private(set) var rows = ""
  private(set) var count = 0

  init(_ table: Int, first: Int) { (self.table, self.first) = (table, first) }

  func isFull(for row: String, _ budget: Int, _ links: HTMLPageLinks) -> Bool {
    count >= links.rowsPerPage || rows.utf8.count + row.utf8.count > budget
  }

  var last: Int { first + count - 1 }

  mutating func append(_ html: String) {
    rows += html
    count += 1
  }

  func document(
    _ long: HTMLLongTable, _ number: Int, hasNext: Bool, _ schema: String, _ header: ReportHeader, _ live: HTMLLive?,
    _ links: HTMLPageLinks
  ) -> String {
    let title = HTMLReport.capitalised(long.title ?? "rows")
    let nav =
      [links.link(1, "First page"), links.link(number - 1, "Previous")]
      + (hasNext ? [links.link(number + 1, "Next")] : [])
    let body =
      "<section id=\"section-\(long.id)\"><h2>\(HTMLText.escaped(title)), rows \(first) to \(last)</h2>"
      + long.table.frame(rows) + (hasNext ? "<p class=\"rest\">\(links.link(number + 1, "Next rows"))</p>" : "")
      + "</section>\n"
    return HTMLReport.document(
      body, HTMLReport.title(schema) + ", page \(number)", nav.joined(), header, live, page: number)
  }
}
