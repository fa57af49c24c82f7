import Transfers
import TransferModel
import TransferReports

/// `report summary --format html`: the page of all reports. In a file, its list of files continues on further pages,
/// which are read from the same state of the ledger.
struct PageReport {
  let selection: SelectionOptions
  let arrangement: ArrangementOptions
  let common: CommonOptions
  let context: Context

  func write() throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let store = try StoreIdentity(ledger)
    var chosen = try selection.filter(ledger, context).withHidden
    chosen.placedBy = arrangement.by?.moment
    let filter = chosen
    let conditions = arrangement.failOn
    let (checks, failure) = try LedgerAccess.read(ledger) { reader in
      let checks = try conditions.checks(reader, filter)
      let header = ReportHeader(
        store: store, filters: selection.filters.merging(arrangement.filters) { $1 }, generatedMs: context.clock.wallMs,
        checks: checks)
      return (checks, try print(reader, filter, header))
    }
    if let failure { throw failure }
    context.out.markComplete()
    try conditions.requireSuccess(checks)
  }

  private func print(_ reader: StoreReader, _ filter: RowFilter, _ header: ReportHeader) throws -> CommandFailure? {
    let page = try ReportPage(
      reader, filter, absence: Absence(selection), context.clock, hasFurtherPages: context.pages != nil)
    let pruned = try reader.prunedHistory(filter, counted: ReportCommand.Kind.summary.countsPruned)
    var printer = PagePrinter(header, context)
    printer.begin(PrunedNote.added(pruned, to: page.report), continuing: "files_listed")
    var last = page.files.last
    while context.pages != nil, let file = last, page.files.count == ReportPage.fileLimit {
      let rows = try reader.files(filter, after: file.id.rawValue, limit: 500)
      printer.append(FigureTable(FileFigures.columns, rows))
      last = rows.last
    }
    do throws(CommandFailure) { try printer.end() } catch { return error }
    return nil
  }
}
