import Testing
import TransferModel

@testable import TransferReports

@Suite struct FigureTreeTests {
  private let rows = FigureTable([Column<Int>.integer("id") { $0 }, .text("n") { _ in "t" }], [1, 2])

  private var tree: FigureTree {
    let facts: [(FigureHeading, Cell)] = [
      (FigureHeading("files_total", nil, .integer), .integer(3)), (FigureHeading("big", nil, .integer), .integer(.max)),
      (FigureHeading("labels", nil, .texts), .texts(["myLabel": "x\ny", "b": ""])),
      (FigureHeading("nothing", nil, .text), .none), (FigureHeading("is_fine", nil, .flag), .flag(true)),
    ]
    let columns = facts.map { heading, cell in Column<Int>(heading) { _ in cell } }
    return FigureTree(
      Report(
        "transfers.test/1",
        [
          ReportSection(nil, nil, .facts(columns.map { Fact($0, 0) }, .lines)),
          ReportSection("rows", "rows", .table(rows, TableLook())), ReportSection("absent", nil, .absent),
        ]))
  }

  private func lines(_ tree: FigureTree) -> [String] { tree.leaves().map { "\($0.key)=\($0.cell.plainText)" } }

  @Test func everyFigureHasAPath() {
    #expect(
      lines(tree) == [
        "absent=", "big=9223372036854775807", "files_total=3", "is_fine=true", "labels.b=", "labels.myLabel=x\ny",
        "nothing=", "rows.0.id=1", "rows.0.n=t", "rows.1.id=2", "rows.1.n=t",
      ])
  }

  @Test func membersAreChosenByTheirPaths() throws {
    #expect(
      lines(try tree.choosing(["rows.id", "labels.b", "big"])) == [
        "big=\(Int64.max)", "labels.b=", "rows.0.id=1", "rows.1.id=2",
      ])
    #expect(lines(try tree.choosing(["rows.id", "rows.n"])) == lines(try tree.choosing(["rows"])))
    for path in ["none", "labels.none", "big.x", "rows.none", "absent.x"] {
      #expect(throws: UnknownFigure.self, "\(path)") { try tree.choosing([path]) }
    }
  }
}
