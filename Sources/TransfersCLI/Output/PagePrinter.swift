import TransferModel
import TransferReports

/// The page of a report that `serve` was asked for.
struct ServedPage: Sendable {
  /// Of a table on one page.
  static let rows = 1000
  let number: Int
  let links: HTMLPageLinks
}

/// Prints a report as HTML: a page and its further pages to files, the page that `serve` was asked for, or else one
/// page that says how many rows it omits.
struct PagePrinter {
  private var pages: HTMLPages
  private var found: String?
  private let context: Context

  init(_ header: ReportHeader, _ context: Context) {
    self.context = context
    pages = HTMLPages(header, live: context.live, links: context.pages?.links ?? context.served?.links)
  }

  /// Whether no more rows are needed.
  var isComplete: Bool { context.served.map { pages.isComplete($0.number) } ?? false }

  /// If the table with the key `continuing` has more rows, they are added by ``append``.
  mutating func begin(_ report: Report, continuing: String? = nil) {
    keep(pages.begin(report, continuing: continuing))
  }

  mutating func append(_ rows: FigureTable) { keep(pages.append(rows)) }

  /// `words` are put above everything else.
  mutating func end(words: String? = nil) throws(CommandFailure) {
    let (first, rest) = pages.end(words: words)
    keep(rest)
    try context.pages?.check()
    guard let number = context.served?.number, number > 1 else { return context.out.write(first) }
    guard let found else {
      var failure = CommandFailure.usage("the report has no page \(number)", remedy: "page=1")
      failure.isAboutMissingRow = true
      throw failure
    }
    context.out.write(found)
  }

  private mutating func keep(_ further: [HTMLPages.Page]) {
    for page in further {
      context.pages?.write(page.number, page.html)
      if page.number == context.served?.number { found = page.html }
    }
  }
}

/// Prints rows as HTML while they arrive: the first page is made from many of them, which it packs.
struct RowPages {
  private static let limit = 20_000
  private let schema, rowType: String
  private let limit: Int
  private var printer: PagePrinter
  private var collected: FigureTable?
  private var hasBegun = false
  private var count = 0

  init(_ schema: String, _ rowType: String, _ header: ReportHeader, _ context: Context) {
    (self.schema, self.rowType, printer) = (schema, rowType, PagePrinter(header, context))
    limit = context.served == nil ? Self.limit : ServedPage.rows
  }

  var isComplete: Bool { hasBegun && printer.isComplete }

  mutating func append(_ page: FigureTable) {
    count += page.rows.count
    if hasBegun { return printer.append(page) }
    collected = FigureTable(page.headings, (collected?.rows ?? []) + page.rows)
    if count > limit { begin() }
  }

  mutating func end(empty: String) throws(CommandFailure) {
    if !hasBegun { begin(empty: empty) }
    try printer.end(words: isComplete ? nil : Quantity.count(count, "row"))
  }

  private mutating func begin(empty: String = "") {
    let content = collected.map { ReportSection.Content.table($0, TableLook(empty: empty)) } ?? .words(empty)
    printer.begin(Report(schema, [ReportSection(rowType, nil, content)]), continuing: rowType)
    (collected, hasBegun) = (nil, true)
  }
}
