/// One condition of `--fail-on`, and whether it holds.
package struct ReportCheck: Sendable, Hashable {
  /// As typed: `failed>0`. The check passes while this is false.
  package let condition: String
  package let figure: String
  /// Unknown figures pass, except `missed`: an objective of `--sla` without values was not met.
  package let value: Cell
  package let hasPassed: Bool

  package init(condition: String, figure: String, value: Cell, hasPassed: Bool) {
    (self.condition, self.figure, self.value, self.hasPassed) = (condition, figure, value, hasPassed)
  }

  package var words: String {
    let result = value == .none ? "no value" : hasPassed ? "passed" : "failed"
    return "\(result): --fail-on \(condition), and \(figure) is \(value.text)"
  }

  var tree: FigureTree {
    .object([
      FigureTree.Member("condition", .figure(.text(condition))), FigureTree.Member("figure", .figure(.text(figure))),
      FigureTree.Member("value", .figure(value)), FigureTree.Member("passed", .figure(.flag(hasPassed))),
    ])
  }
}

extension [ReportCheck] {
  /// The text above a report.
  package func text(_ style: TextStyle) -> String {
    map { style.paint($0.words, $0.hasPassed ? .good : .bad) + "\n" }.joined()
  }

  package var markdown: String {
    isEmpty ? "" : map { "- \(MarkdownReport.escaped($0.words))\n" }.joined() + "\n"
  }

  var html: String {
    isEmpty
      ? ""
      : "<ul>" + map { "<li class=\"\($0.hasPassed ? "good" : "bad")\">\(HTMLText.escaped($0.words))</li>" }.joined()
        + "</ul>"
  }

  /// Empty without conditions.
  var members: [FigureTree.Member] {
    isEmpty
      ? []
      : [
        FigureTree.Member("checks", .array(map(\.tree))),
        FigureTree.Member("passed", .figure(.flag(allSatisfy(\.hasPassed)))),
      ]
  }
}
