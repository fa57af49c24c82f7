import TransferModel
import TransferReports
import Transfers

/// One row with related rows.
enum ShowOutput {
  /// Only the newest are shown.
  static let attemptLimit = 200
  static let chunkLimit = 10_000

  /// nil when there is no such row.
  static func report(of kind: RowSelector.Kind, _ number: Int64, _ reader: StoreReader) throws -> Report? {
    switch kind {
    case .batch: try ShownBatch(number, reader)?.report
    case .file: try ShownFile(number, reader)?.report
    case .chunk: try ShownChunk(number, reader)?.report
    case .attempt: try ShownAttempt(number, reader)?.report
    case .session: nil
    }
  }
}

struct ShownBatch: OutputValue {
  let row: BatchRow
  let failures: [FailureRow]

  init?(_ number: Int64, _ reader: StoreReader) throws {
    var filter = RowFilter()
    filter.batches = [number...number]
    guard let found = try reader.batches(filter, after: 0, limit: 1, withAttempts: false).first else { return nil }
    row = found
    failures = try reader.endings(filter)
  }

  static let form = ReportForm<ShownBatch>(
    "transfers.show.batch/1",
    [
      .facts([.text("kind") { _ in "batch" }]),
      .record("row", nil, BatchFigures.ofFiles.labelled()) { $0.row },
      .table("failures", "failures", FailureFigures.ofFiles) { $0.failures },
    ])
}

struct ShownFile: OutputValue {
  let row: FileRow
  let receipt: ReceiptRow?
  /// The result of the newest `verify` or `prove --remote`.
  let verified: LaterFinding?
  /// The properties that rules set for its object, ordered by name.
  let properties: [(name: String, value: String)]
  /// The runs that continued it.
  let resumed: [(run: RunID, atMs: Int64, storedBytes: Int64)]
  let chunks: [ChunkRow]
  let attempts: [AttemptRow]

  init?(_ number: Int64, _ reader: StoreReader) throws {
    var filter = RowFilter()
    filter.files = [number...number]
    guard let found = try reader.files(filter, after: 0, limit: 1).first else { return nil }
    row = found
    receipt = try reader.receipt(of: found.id)
    verified = try reader.laterFinding(of: found.id)
    properties = try reader.properties(of: found.id).values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    resumed = try reader.resumptions(of: found.id)
    chunks = try reader.chunks(of: found.id, limit: ShowOutput.chunkLimit)
    attempts = try reader.newestAttempts(of: found.id, chunk: nil, limit: ShowOutput.attemptLimit)
  }

  static let form = ReportForm<ShownFile>(
    "transfers.show.file/1",
    [
      .facts([.text("kind") { _ in "file" }]),
      .record("row", nil, FileFigures.columns.labelled()) { $0.row },
      .table(
        "properties", "properties",
        [.text("setting", "setting") { $0.name }, .text("value", "value") { $0.value }]
      ) { $0.properties },
      .record("receipt", "receipt", ProofFigures.columns) { $0.receipt },
      .record("verified", "verified", verifiedColumns) { $0.verified },
      .table(
        "resumed", "resumed",
        [
          .text("run", "run") { $0.run.description }, .time("at", "at") { $0.atMs },
          .bytes("stored", "bytes stored before") { $0.storedBytes },
        ]
      ) { $0.resumed },
      .table(
        "chunks", "chunks", ChunkFigures.columns, TableLook(chart: .strip(state: "state", length: "length"))
      ) { $0.chunks },
      .table("attempts", "attempts", AttemptFigures.columns) { $0.attempts },
    ])

  private static let verifiedColumns: [Column<LaterFinding>] = [
    .text("finding", "finding") { $0.finding },
    .text("confirmed_by", "confirmed_by") { $0.confirmation },
    .bytes("size", "size") { $0.size },
    .text("digest", "digest") { $0.digest },
    .text("attempt", "attempt") { $0.attempt?.description },
    .time("recorded_at", "recorded_at") { $0.atMs },
  ]
}

struct ShownChunk: OutputValue {
  let row: ChunkRow
  let attempts: [AttemptRow]

  init?(_ number: Int64, _ reader: StoreReader) throws {
    guard let found = try reader.chunk(ChunkID(rawValue: number)) else { return nil }
    row = found
    attempts = try reader.newestAttempts(of: found.file, chunk: found.id, limit: ShowOutput.attemptLimit)
  }

  static let form = ReportForm<ShownChunk>(
    "transfers.show.chunk/1",
    [
      .facts([.text("kind") { _ in "chunk" }]),
      .record("row", nil, ChunkFigures.columns.labelled()) { $0.row },
      .table("attempts", "attempts", AttemptFigures.columns) { $0.attempts },
    ])
}

/// `show a77 --curl`.
struct ShownRequest: OutputValue {
  let id: AttemptID
  let request: CurlCommand

  init?(_ number: Int64, _ reader: StoreReader) throws {
    id = AttemptID(rawValue: number)
    guard let found = try reader.curlCommand(of: id) else { return nil }
    request = found
  }

  static let form = ReportForm<ShownRequest>(
    "transfers.show.request/1",
    [
      .words { $0.request.script },
      .facts([
        .text("id") { $0.id.description }, .list("remarks") { $0.request.remarks },
        .text("command") { $0.request.command },
      ]),
    ])
}

struct ShownAttempt: OutputValue {
  let row: AttemptRow
  /// The stored part of the server's answer.
  let reply: NameBytes?

  init?(_ number: Int64, _ reader: StoreReader) throws {
    guard let found = try reader.attempt(AttemptID(rawValue: number)) else { return nil }
    row = found
    reply = try reader.replyExcerpt(of: found.id)
  }

  static let form = ReportForm<ShownAttempt>(
    "transfers.show.attempt/1",
    [
      .facts([.text("kind") { _ in "attempt" }]),
      .record("row", nil, AttemptFigures.columns.labelled()) { $0.row },
      .facts([.name("reply", "reply") { $0.reply }]),
    ])
}
