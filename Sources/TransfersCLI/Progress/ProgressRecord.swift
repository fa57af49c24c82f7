import TransferModel
import TransferReports
import Transfers

/// What `--progress json` writes to standard error, one record a line: the same figures that the block shows.
struct ProgressRecord: Encodable, Sendable {
  let type = "progress"
  let at, elapsedMs: Cell
  let filesTotal, filesDone, filesFailed, filesUnknown, filesActive, retrying, sending: Cell
  let bytesTotal, bytesAcked, bytesInFlight, bps, rateLimitBps, etaMs, waitingForServerMs: Cell
  let files: [FigureObject]

  init(_ figures: ProgressFigures, wallMs: Int64) {
    let now = figures.now
    at = .time(wallMs)
    elapsedMs = .milliseconds(now.elapsedMs)
    filesTotal = Cell(now.totalIsKnown ? now.filesTotal : nil)
    (filesDone, filesFailed, filesUnknown) = (Cell(now.filesDone), Cell(now.filesFailed), Cell(now.filesUnknown))
    (filesActive, retrying, sending) = (Cell(now.active), Cell(now.retrying), Cell(now.sending))
    bytesTotal = Cell(bytes: now.totalIsKnown ? now.bytesTotal : nil)
    (bytesAcked, bytesInFlight) = (.bytes(now.bytesAcked), .bytes(now.bytesInFlight))
    bps = Cell(bytesPerSecond: figures.bytesPerSecond)
    rateLimitBps = Cell(bytesPerSecond: now.rateLimit)
    etaMs = Cell(ms: figures.etaMs)
    waitingForServerMs = Cell(ms: now.waitingForServerMs)
    files = figures.files.map(Self.object)
  }

  private enum CodingKeys: String, CodingKey {
    case type, at, elapsedMs, filesTotal, filesDone, filesFailed, filesUnknown, filesActive, retrying, sending,
      bytesTotal, bytesAcked, bytesInFlight, bps, rateLimitBps, etaMs, waitingForServerMs, files
  }

  private static func object(_ file: ProgressFigures.File) -> FigureObject {
    let progress = file.progress
    var fields: [(String, Cell)] = [
      ("id", .text(progress.id.description)), ("path", .name(progress.path)), ("bytes", .bytes(progress.bytesTotal)),
      ("bytes_acked", .bytes(progress.bytesAcked)), ("bytes_in_flight", .bytes(progress.bytesInFlight)),
      ("bps", Cell(bytesPerSecond: file.bytesPerSecond)), ("eta_ms", Cell(ms: file.etaMs)),
    ]
    switch progress.phase {
    case .sending: fields.append(("state", .text("sending")))
    case .finishing: fields.append(("state", .text("finishing")))
    case .waitingForServer(let ms):
      fields += [("state", .text("waiting_for_server")), ("waiting_ms", .milliseconds(ms))]
    case .stalled(let ms): fields += [("state", .text("stalled")), ("stalled_ms", .milliseconds(ms))]
    case .retrying(let ms, let code, let number, let limit):
      fields += [
        ("state", .text("retrying")), ("retry_in_ms", .milliseconds(ms)), ("error", .text(code.rawValue)),
        ("try", Cell(number)), ("max_tries", Cell(limit)),
      ]
    case .failed(let code): fields += [("state", .text("failed")), ("error", .text(code.rawValue))]
    }
    return FigureObject(fields)
  }
}

/// A line for people among the records: `text` is what it would have been.
struct NoticeRecord: Encodable, Sendable {
  let type = "notice"
  let at: Cell
  let text: String

  init(_ text: String, wallMs: Int64) {
    self.text = text
    at = .time(wallMs)
  }

  private enum CodingKeys: String, CodingKey { case type, at, text }
}
