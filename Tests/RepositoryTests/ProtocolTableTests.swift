import Testing
import TransferModel
import Transfers

/// The README's table of destinations agrees with what the protocols declare.
@Suite struct ProtocolTableTests {
  /// One row for each protocol; built-in profiles have a separate table (`transfers profile list`).
  private static var rows: [String] {
    ProtocolCatalog.all.filter { !$0.about.isEmpty }.map { row in
      let asked = row.probe.isEmpty || row.probe == row.parallel ? "" : ", after \(row.probe)"
      let resumes = row.probe == row.parallel ? row.probe : row.isResumable ? "yes\(asked)" : "no"
      return "| `\(row.usage)` | \(row.about) | \(row.parallel) | \(resumes) | \(row.exactlyOnce) |"
    }
  }

  @Test func theReadmeListsTheProtocols() throws {
    let lines = try #require(Repository.text("README.md"), "README.md is missing").split(
      separator: "\n", omittingEmptySubsequences: false)
    let section = lines.drop { $0 != "## Destinations" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let table = section.filter { $0.hasPrefix("|") }.dropFirst(2).map(String.init)
    #expect(table == Self.rows, "write these rows:\n\(Self.rows.joined(separator: "\n"))")
  }
}
