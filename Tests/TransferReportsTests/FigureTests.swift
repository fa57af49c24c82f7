import FoundationEssentials
import Testing
import TransferModel

@testable import TransferReports

@Suite struct FigureTests {
  private struct Row { var name: NameBytes, size: Int64, ended: Int64? }
  private let columns: [Column<Row>] = [
    Column("path", "Path") { .name($0.name) },
    Column("bytes", "Size") { .bytes($0.size) },
    Column("ended_at") { Cell(time: $0.ended) },
  ]

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func unknownIsNullAndNumbersAreNumbers() throws {
    let table = FigureTable(columns, [Row(name: NameBytes("/a b"), size: 5, ended: nil)])
    #expect(try json(table) == #"[{"bytes":5,"ended_at":null,"path":"/a b"}]"#)
  }

  @Test func aNameThatIsNotTextKeepsItsBytes() throws {
    let table = FigureTable(columns, [Row(name: NameBytes([0x2F, 0xFF, 0x0A]), size: 0, ended: 0)])
    #expect(
      try json(table)
        == #"[{"bytes":0,"ended_at":"1970-01-01T00:00:00.000Z","path":"/\#u{FFFD}\n","path_b64":"L/8K"}]"#)
  }
}
