import Testing

@testable import TransferReports

@Suite struct HeatGridTests {
  private static func grid(_ columns: [Cell]) -> HeatGrid? {
    let headings = [
      FigureHeading("x", nil, .integer), FigureHeading("y", nil, .text), FigureHeading("n", nil, .integer),
    ]
    let table = FigureTable(headings, columns.map { [$0, .text("row"), .integer(1)] })
    return HeatGrid(table, column: "x", row: "y", value: "n")
  }

  /// An hour in which nothing happened keeps its place, and later rows do not move an earlier hour to the end.
  @Test func numbersStandInTheirOrderWithoutGaps() throws {
    let grid = try #require(Self.grid([.integer(5), .integer(3), .integer(7)]))
    #expect(grid.columns == [3, 4, 5, 6, 7].map { Cell.integer($0) })
    #expect(grid.values == [[1, 0, 1, 0, 1]])
  }

  @Test func otherColumnsStandAsTheyCome() throws {
    #expect(try #require(Self.grid([.text("b"), .text("a")])).columns == [.text("b"), .text("a")])
    #expect(try #require(Self.grid([.integer(1), .integer(1_000_000)])).columns.count == 2)
  }
}
