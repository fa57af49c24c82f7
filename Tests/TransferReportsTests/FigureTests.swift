import Testing
import TransferModel

@testable import TransferReports

@Suite struct FigureTests {
  private struct Row { var name: NameBytes, size: Int64, ended: Int64? }
  private let columns: [Column<Row>] = [
    .name("path", "Path") { $0.name },
    .bytes("bytes", "Size") { $0.size },
    .time("ended_at") { $0.ended },
  ]

  private func json(_ table: FigureTable) -> String {
    String(decoding: JSONWriter.bytes(FigureTree(table)), as: UTF8.self)
  }

  @Test func unknownIsNullAndNumbersAreNumbers() {
    let table = FigureTable(columns, [Row(name: NameBytes("/a b"), size: 5, ended: nil)])
    #expect(json(table) == #"[{"bytes":5,"ended_at":null,"path":"/a b"}]"#)
  }

  @Test func aNameThatIsNotTextKeepsItsBytes() {
    let table = FigureTable(columns, [Row(name: NameBytes([0x2F, 0xFF, 0x0A]), size: 0, ended: 0)])
    #expect(
      json(table)
        == #"[{"bytes":0,"ended_at":"1970-01-01T00:00:00.000Z","path":"/\#u{FFFD}\n","path_b64":"L/8K"}]"#)
  }

  /// "Of them" would be of those that were named last, which did not arrive.
  @Test func theSentenceOfAPageSaysWhichFilesHaveNoProof() {
    func sentence(_ states: [FileState: Int]) -> String? {
      SummaryFigures(
        batches: 1, totals: FileTotals(byState: states, bytes: 8, bytesAcked: 8, unverified: 3),
        attempts: AttemptTotals(), failures: [], slowest: []
      ).headline
    }
    #expect(sentence([.done: 4])?.hasSuffix(". 3 of them without proof from the server.") == true)
    #expect(
      sentence([.done: 4, .failed: 2])?.hasSuffix(": 2 failed. 3 of the 4 without proof from the server.") == true)
  }
}
