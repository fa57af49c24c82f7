import Testing
import TransferModel

@testable import TransferReports

@Suite struct MarkdownReportTests {
  private func rows(_ name: String) -> String {
    MarkdownReport.rows(
      FigureTable([Column<String>.name("path", "Path") { NameBytes($0) }, .integer("n", "N") { _ in 1 }], [name]))
  }

  /// A combining mark forms one character with the bar before it; the bar must be escaped all the same.
  @Test(arguments: [
    ("a|b", "a\\|b"), ("|\u{301}", "\\|\u{301}"), ("<b>", "\\<b\\>"), ("*_`[x](y)", "\\*\\_\\`\\[x\\](y)"),
  ])
  func aNameStaysInItsCell(_ name: String, _ cell: String) {
    #expect(rows(name) == "| Path | N |\n| --- | ---: |\n| \(cell) | 1 |\n")
  }
}
