import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

@Suite struct JSONTreeTests {
  private struct Value: Encodable {
    let filesTotal = 3
    let big = Int64.max
    let labels = ["myLabel": "x\ny", "b": ""]
    let nothing: Cell = .none
    let isFine = true
    let rows = FigureTable([Column<Int>("id") { .integer(Int64($0)) }, Column("n") { _ in .text("t") }], [1, 2])
  }

  private func lines(_ tree: JSONTree) -> [String] { tree.leaves().map { "\($0.key)=\($0.value)" } }

  @Test func everyFigureHasAPath() throws {
    #expect(
      lines(try JSONTree(Value())) == [
        "big=9223372036854775807", "files_total=3", "is_fine=true", "labels.b=", "labels.myLabel=x\ny", "nothing=",
        "rows.0.id=1", "rows.0.n=t", "rows.1.id=2", "rows.1.n=t",
      ])
  }

  @Test func membersAreChosenByTheirPaths() throws {
    let tree = try JSONTree(Value())
    #expect(
      lines(try tree.choosing(["rows.id", "labels.b", "big"])) == [
        "big=\(Int64.max)", "labels.b=", "rows.0.id=1", "rows.1.id=2",
      ])
    #expect(lines(try tree.choosing(["rows.id", "rows.n"])) == lines(try tree.choosing(["rows"])))
    #expect(lines(try tree.choosing(["labels", "labels.b"])).count == 2)
    for path in ["none", "labels.none", "big.x", "rows.none"] {
      #expect(throws: CommandFailure.self, "\(path)") { try tree.choosing([path]) }
    }
  }

  @Test func whatWasReadIsWrittenTheSame() throws {
    #expect(try JSONText.encode(JSONTree(Value())) == JSONText.encode(Value()))
  }
}
