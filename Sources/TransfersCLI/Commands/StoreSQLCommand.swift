import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store sql`.
struct StoreSQLCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "sql", abstract: "Run one SELECT over the ledger's views.",
    discussion: """
      The connection is read-only; other databases cannot be attached. "transfers store schema" describes the views, \
      which keep their columns; the tables behind them may change. path and key are bytes: names that are not UTF-8 \
      are escaped in text, and JSON has their exact bytes in base64. Ctrl-C ends it immediately.

      Running a statement and printing its rows may take a minute, or --timeout; time spent waiting for the reader of \
      the output does not count. Then the command exits with 124. Sorting uses temporary files (TMPDIR), and one value \
      may have 64 MiB.

      Examples:
        transfers store sql "SELECT state, count(*) FROM v_files GROUP BY state"
        transfers store sql --json \\
          "SELECT path, digest FROM v_files WHERE state = 'done'"
      """)

  @Argument(help: ArgumentHelp("The statement.", valueName: "select")) var statement: String
  @Option(help: ArgumentHelp("End the statement after this time: 90s, 8h; 0s for never.", valueName: "time"))
  var timeout = TimeSpan(ms: 60_000)
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    guard !EscapedArgument.isEscaped(statement) else { throw .usage("the statement is not UTF-8") }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let pages = SQLPages(
      RowPrinter(
        schema: "transfers.store.sql/1", rowType: "row", store: try StoreIdentity(ledger),
        filters: ["sql": .text(statement)], common,
        context))
    let budget = SQLBudget(timeMs: timeout.ms > 0 ? timeout.ms : nil)
    let isInTime = try LedgerAccess.read(ledger) { reader in
      do {
        try reader.query(statement, within: budget, columns: { try pages.begin($0) }, row: { pages.take($0) })
        return true
      } catch is SQLBudget.Exceeded { return false }
    }
    guard isInTime else {
      pages.flush()
      throw CommandFailure(
        .timeout, "run SQL: it ran for longer than \(Quantity.duration(timeout.ms)), and the rows are incomplete",
        remedy: "select less, or increase --timeout")
    }
    try pages.finish()
  }
}

/// Rows with columns that are only known at run time, printed a page at a time.
private final class SQLPages {
  private var printer: RowPrinter
  private var headings: [FigureHeading] = []
  private var rows: [[Cell]] = []
  private var printed = 0
  /// The size of the values in `rows`.
  private var bytes = 0
  private static let pageSize = 500
  /// In bytes, because values may be long.
  private static let longestPage = 1 << 20

  init(_ printer: RowPrinter) { self.printer = printer }

  /// Columns with equal names are made unique, because a JSON object has each key once. A ledger that could not be
  /// locked and was written meanwhile is read again from the start, which is too late once rows were printed.
  func begin(_ columns: [SQLColumn]) throws {
    guard printed == 0 else {
      throw TransferError(.storeBusy, "run SQL", cause: "the ledger changed while it was read", remedy: "try again")
    }
    (headings, rows, bytes) = ([], [], 0)
    var used: Set<String> = []
    for column in columns {
      var (name, count) = (column.name, 1)
      while !used.insert(name).inserted {
        count += 1
        name = "\(column.name)_\(count)"
      }
      headings.append(FigureHeading(name, printable(name), column.isBytes ? .name : .text))
    }
  }

  /// False when the reader has closed the stream.
  func take(_ row: [SQLFigure]) -> Bool {
    rows.append(row.map(Cell.init))
    bytes += row.reduce(0) { $0 + $1.length }
    if rows.count == Self.pageSize || bytes >= Self.longestPage { flush() }
    return !printer.isClosed
  }

  /// What was read is printed, without the end that only a complete result has.
  func flush() {
    printer.print(FigureTable(headings, rows))
    printed += rows.count
    (rows, bytes) = ([], 0)
  }

  func finish() throws(CommandFailure) {
    flush()
    try printer.finish(empty: "no rows")
  }
}

extension SQLFigure {
  /// In bytes; NULL and numbers count as 8.
  fileprivate var length: Int {
    switch self {
    case .null, .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }
}

extension Cell {
  fileprivate init(_ figure: SQLFigure) {
    self =
      switch figure {
      case .null: .none
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .name(NameBytes(bytes))
      }
  }
}
