import TransferModel
import TransferReports
import Transfers

/// The records of `--progress json` on standard error, one per line: the same figures as in the block.
enum ProgressRecord {
  static func tree(_ figures: ProgressFigures, wallMs: Int64) -> FigureTree {
    let now = figures.now
    let own: [(String, Cell)] = [
      ("type", .text("progress")), ("at", .time(wallMs)), ("elapsed_ms", .milliseconds(now.elapsedMs)),
      ("files_total", Cell(now.totalIsKnown ? now.filesTotal : nil)), ("files_done", Cell(now.filesDone)),
      ("files_failed", Cell(now.filesFailed)), ("files_unknown", Cell(now.filesUnknown)),
      ("files_active", Cell(now.active)), ("retrying", Cell(now.retrying)), ("sending", Cell(now.sending)),
      ("bytes_total", Cell(bytes: now.totalIsKnown && now.sizesUnknown == 0 ? now.bytesTotal : nil)),
      ("bytes_acked", .bytes(now.bytesAcked)),
      ("bytes_in_flight", .bytes(now.bytesInFlight)), ("bps", Cell(bytesPerSecond: figures.bytesPerSecond)),
      ("rate_limit_bps", Cell(bytesPerSecond: now.rateLimit)), ("eta_ms", Cell(ms: figures.etaMs)),
      ("waiting_for_server_ms", Cell(ms: now.waitingForServerMs)),
    ]
    let files = FigureTree.array(figures.files.map { FigureTree(object($0)) })
    return .object(own.map { FigureTree.Member($0.0, .figure($0.1)) } + [FigureTree.Member("files", files)])
  }

  /// A line for people among the records: `text` is what it would have been.
  static func notice(_ text: String, wallMs: Int64) -> FigureTree {
    FigureTree(FigureObject([("type", .text("notice")), ("at", .time(wallMs)), ("text", .text(text))]))
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
