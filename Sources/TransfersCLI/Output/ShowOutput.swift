import Transfers
import TransferModel
import TransferReports

/// One row and what belongs to it. At most ``attemptLimit`` attempts are shown, the newest.
struct ShowOutput: OutputValue {
  static let schema = "transfers.show/2"
  static let attemptLimit = 200

  let kind: String
  let row: FigureObject
  let receipt: FigureObject?
  /// What the newest `verify` found of the local file.
  let verified: FigureObject?
  let failures: FigureTable?
  let chunks: FigureTable?
  let attempts: FigureTable?

  private enum CodingKeys: String, CodingKey { case kind, row, receipt, verified, failures, chunks, attempts }

  init?(batch number: Int64, _ reader: StoreReader) throws {
    let filter = Self.only(batch: number)
    guard let found = try reader.batches(filter, after: 0, limit: 1, withAttempts: false).first else { return nil }
    kind = "batch"
    row = FigureObject(BatchFigures.ofFiles, found)
    failures = FigureTable(FailureFigures.ofFiles, try reader.endings(filter))
    (receipt, verified, chunks, attempts) = (nil, nil, nil, nil)
  }

  init?(file number: Int64, _ reader: StoreReader) throws {
    let filter = Self.only(file: number)
    guard let found = try reader.files(filter, after: 0, limit: 1).first else { return nil }
    kind = "file"
    row = FigureObject(FileFigures.columns, found)
    receipt = try reader.receipt(of: found.id).map(Self.proof)
    verified = try reader.localFinding(of: found.id).map { Self.verified($0.finding, atMs: $0.atMs) }
    failures = nil
    chunks = FigureTable(ChunkFigures.columns, try reader.chunks(of: found.id, limit: 10_000))
    attempts = FigureTable(
      AttemptFigures.columns, try reader.newestAttempts(of: found.id, chunk: nil, limit: Self.attemptLimit))
  }

  init?(chunk number: Int64, _ reader: StoreReader) throws {
    guard let found = try reader.chunk(ChunkID(rawValue: number)) else { return nil }
    kind = "chunk"
    row = FigureObject(ChunkFigures.columns, found)
    (receipt, verified, failures, chunks) = (nil, nil, nil, nil)
    attempts = FigureTable(
      AttemptFigures.columns, try reader.newestAttempts(of: found.file, chunk: found.id, limit: Self.attemptLimit))
  }

  init?(attempt number: Int64, _ reader: StoreReader) throws {
    guard let found = try reader.attempt(AttemptID(rawValue: number)) else { return nil }
    kind = "attempt"
    let reply = try reader.replyExcerpt(of: found.id).map(Cell.name) ?? .none
    row = FigureObject(AttemptFigures.columns, found).adding("reply", reply)
    (receipt, verified, failures) = (nil, nil, nil)
    (chunks, attempts) = (nil, nil)
  }

  func text(_ style: TextStyle) -> String {
    var out = Self.block(row)
    if let receipt { out += "receipt\n" + Self.block(receipt, indent: 2) }
    if let verified { out += "verified\n" + Self.block(verified, indent: 2) }
    for (title, table) in [("failures", failures), ("chunks", chunks), ("attempts", attempts)] {
      guard let table, !table.rows.isEmpty else { continue }
      var text = Table(style, indent: 2)
      out += "\(title)\n" + text.page(table)
    }
    return out
  }

  /// One figure a line; what is unknown is left out.
  private static func block(_ object: FigureObject, indent: Int = 0) -> String {
    let known = object.fields.filter { $0.cell != .none && $0.cell != .text("") }
    let width = known.map { DisplayWidth.of($0.key) }.max() ?? 0
    let margin = String(repeating: " ", count: indent)
    return known.map { field in
      "\(margin)\(DisplayWidth.pad(field.key, to: width, alignsRight: false))  \(field.cell.text)\n"
    }.joined()
  }

  private static func proof(_ row: ReceiptRow) -> FigureObject {
    FigureObject([
      ("size", Cell(bytes: row.size)), ("attempt", Cell(row.attempt?.description)),
      ("confirmed_by", .text(row.confirmation)), ("digest", Cell(row.digest)),
      ("remote_digest", Cell(row.remoteDigest)), ("etag", known(row.etag)), ("version_id", known(row.versionID)),
      ("request_id", known(row.requestID)), ("server_date", known(row.serverDate)), ("location", known(row.location)),
      ("recorded_at", .time(row.recordedMs)), ("note", Cell(row.note)),
    ])
  }

  private static func verified(_ found: LocalFinding, atMs: Int64) -> FigureObject {
    FigureObject([
      ("finding", .text(found.verdict.rawValue)), ("size", Cell(bytes: found.size)),
      ("digest", Cell(found.digest?.description)), ("recorded_at", .time(atMs)),
    ])
  }

  /// What the server did not say is unknown.
  private static func known(_ text: String) -> Cell { text.isEmpty ? .none : .text(text) }

  private static func only(batch number: Int64) -> RowFilter {
    var filter = RowFilter()
    filter.batches = [number...number]
    return filter
  }

  private static func only(file number: Int64) -> RowFilter {
    var filter = RowFilter()
    filter.files = [number...number]
    return filter
  }
}
