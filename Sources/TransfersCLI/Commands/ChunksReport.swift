import Transfers
import TransferModel
import TransferReports

/// `report chunks f345`: the history of each chunk of one file.
struct ChunksReport: OutputValue {
  /// A file has at most 10,000 chunks on S3; of one with more only these are listed.
  static let rows = 10_000

  let file: FileID
  let rows: [ChunkMapRow]
  /// With `--map`.
  let map: String?

  init(_ reader: StoreReader, _ filter: RowFilter, limit: Int, hasMap: Bool) throws {
    guard let range = filter.files.first, filter.files.count == 1, range.count == 1 else {
      throw TransferError(
        .usage, "report chunks", cause: "it shows the chunks of one file", remedy: "transfers report chunks f345")
    }
    file = FileID(rawValue: range.lowerBound)
    rows = try reader.chunkMap(of: file, limit: limit)
    map = hasMap ? ChunkMapFigures.map(rows) : nil
  }

  static let form = ReportForm<ChunksReport>(
    "transfers.report.chunks/1", rows: "chunks",
    [
      .facts([.text("file") { "\($0.file)" }, .text("map") { $0.map }]),
      .words { $0.map.flatMap { $0.isEmpty ? nil : ChunkMapFigures.words($0) } },
      .table(
        "chunks", nil, ChunkMapFigures.columns,
        TableLook(chart: .strip(state: "state", length: "length"), empty: "no chunks were laid out")
      ) { $0.rows },
    ])
}
