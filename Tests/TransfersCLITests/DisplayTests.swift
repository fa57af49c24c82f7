import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

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

  private struct Row { var name: String, size: Int64, state: String }
  private let columns: [Column<Row>] = [
    Column("name", "Name") { .name(NameBytes($0.name)) },
    Column("bytes", "Size") { .bytes($0.size) },
    Column("hidden") { _ in .integer(1) },
    Column("state", "State") { .text($0.state) },
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

  @Test(arguments: [20, 40, 80])
  func aNarrowTerminalCutsNamesOnly(_ width: Int) {
    var table = Table(TextStyle(columns: width, usesColour: false))
    let row = Row(name: String(repeating: "x", count: 200), size: 5, state: "done")
    let lines = table.page(FigureTable(columns, [row])).split(separator: "\n")
    let least = 12 + 2 + 4 + 2 + 5
    #expect(lines.allSatisfy { DisplayWidth.of($0) <= max(width, least) })
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

  @Test(arguments: [
    (ColourChoice.auto, ["NO_COLOR": "1", "FORCE_COLOR": "1"], true, false), (.auto, ["FORCE_COLOR": "1"], false, true),
    (.auto, ["TERM": "dumb"], true, false), (.auto, ["NO_COLOR": ""], true, true), (.auto, [:], false, false),
    (.always, ["NO_COLOR": "1"], false, true), (.never, ["FORCE_COLOR": "1"], true, false),
  ])
  func whenColourIsUsed(_ choice: ColourChoice, _ environment: [String: String], _ isTerminal: Bool, _ uses: Bool) {
    #expect(TextStyle.usesColour(choice, environment: environment, isTerminal: isTerminal) == uses)
  }
}
