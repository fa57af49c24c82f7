import Testing
import TransferModel

@testable import TransferReports

@Suite struct DisplayTests {
  @Test(arguments: [
    ("abc", 3), ("", 0), ("日本", 4), ("e\u{301}", 1), ("한글", 4), ("👩‍👩‍👧", 2), ("ｱ", 1), ("ｆ", 2), ("☺️", 2), ("→", 1),
    ("é", 1),
  ])
  func columnsOfText(_ text: String, _ columns: Int) { #expect(DisplayWidth.of(text) == columns) }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 2, "…f"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
    ("日本語日本語", 7, "日…本語"), ("ae\u{301}iou", 4, "a…ou"),
  ])
  func cutsInTheMiddleAndNeverInsideACharacter(_ text: String, _ columns: Int, _ cut: String) {
    #expect(DisplayWidth.cutMiddle(text, to: columns) == cut)
    #expect(DisplayWidth.of(DisplayWidth.cutMiddle(text, to: columns)) <= columns)
  }

  /// The widths are the same as if the widest name column were narrowed by one terminal column at a time.
  @Test(arguments: [[40, 40, 40], [41, 30, 13], [12, 90, 12], [5, 6, 7], [64, 63, 62], [100_000, 99_999, 30]])
  func theWidestNamesAreNarrowedFirst(_ widths: [Int]) {
    for columns in [30, 45, 50, 77, 101] {
      var (expected, excess) = (widths, widths.reduce(4, +) - columns)
      while excess > 0, let most = expected.filter({ $0 > 12 }).max() {
        expected[expected.lastIndex(of: most)!] -= 1
        excess -= 1
      }
      guard excess <= 0 else { continue }
      let headings = ["a", "b", "c"].map { FigureHeading($0, $0, .name) }
      let row = widths.map { Cell.name(NameBytes(String(repeating: "x", count: $0))) }
      var table = Table(TextStyle(columns: columns, usesColour: false))
      let line = table.page(FigureTable(headings, [row])).split(separator: "\n")[1]
      #expect(line.split(separator: " ").map(\.count) == expected, "\(widths) in \(columns)")
    }
  }

  private struct Row { var name: String, size: Int64, state: String }
  private let columns: [Column<Row>] = [
    .name("name", "Name") { NameBytes($0.name) },
    .bytes("bytes", "Size") { $0.size },
    .integer("hidden") { _ in 1 },
    .text("state", "State") { $0.state },
  ]

  @Test func numbersToTheRightAndWideNamesAligned() {
    var table = Table(.plain)
    let rows = [Row(name: "日本", size: 5, state: "done"), Row(name: "a", size: 2048, state: "failed")]
    let text = table.page(FigureTable(columns, rows))
    #expect(text == "Name     Size  State\n日本      5 B  done\na     2.0 KiB  failed\n")
  }

  @Test func aHostileNameStaysOneLine() {
    var table = Table(.plain)
    let text = table.page(FigureTable(columns, [Row(name: "a\u{1B}[2J\nb", size: 0, state: "done")]))
    #expect(text.split(separator: "\n").count == 2)
    #expect(!text.contains("\u{1B}"))
  }

  @Test func whatDoesNotFitIsABlockForEachRow() {
    var table = Table(TextStyle(columns: 20, usesColour: false))
    let rows = ["a/long/name/of/a/file", "b"].map { Row(name: $0, size: 5, state: "done") }
    let first = table.page(FigureTable(columns, rows))
    #expect(first == "Name   a/long/name/of/a/file\nSize   5 B\nState  done\n\nName   b\nSize   5 B\nState  done\n")
    let next = table.page(FigureTable(columns, [Row(name: "c", size: 5, state: "done")]), isContinued: true)
    #expect(next == "\nName   c\nSize   5 B\nState  done\n", "later pages look the same")
  }

  @Test(arguments: [26, 40, 80])
  func aNarrowTerminalCutsNamesOnly(_ width: Int) {
    var table = Table(TextStyle(columns: width, usesColour: false))
    let row = Row(name: String(repeating: "x", count: 200), size: 5, state: "done")
    let lines = table.page(FigureTable(columns, [row])).split(separator: "\n")
    #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
    #expect(lines[1].hasSuffix("done"))
  }

  @Test func onlyTheStateIsPainted() {
    var table = Table(TextStyle(columns: nil, usesColour: true))
    let text = table.page(FigureTable(columns, [Row(name: "failed", size: 5, state: "done")]))
    #expect(text.hasSuffix("\nfailed   5 B  \u{1B}[32mdone\u{1B}[0m\n"))
  }

  @Test func laterPagesKeepTheWidth() {
    var table = Table(.plain)
    _ = table.page(FigureTable(columns, [Row(name: "abcdefgh", size: 5, state: "done")]))
    let text = table.page(FigureTable(columns, [Row(name: "a", size: 5, state: "done")]), isContinued: true)
    #expect(text == "a          5 B  done\n")
  }
}
