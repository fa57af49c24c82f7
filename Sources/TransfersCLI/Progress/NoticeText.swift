import TransferModel
import TransferReports
import Transfers

/// A notice as one line for people, safe for a terminal; nil if it is not worth a line.
enum NoticeText {
  static func line(_ notice: Notice) -> String? {
    switch notice {
    case .skipped(let path, let reason): "skipped \(path): \(printable(reason))"
    case .remark(let text): printable(text)
    case .failed(let path, let failure): "failed \(path): \(cause(failure))"
    case .unknown(let path, let failure): "unknown \(path): \(cause(failure))"
    case .waiting(let path, let failure): "\(path) waits for the next run: \(cause(failure))"
    case .retrying(let path, let failure, let ms):
      "retrying \(path) in \(Quantity.duration(ms)): \(cause(failure)) (further retries are not shown)"
    case .sourceChanged(let path): "changed meanwhile, its new content follows: \(path)"
    case .noted(let path, let text): "\(path): \(printable(text))"
    case .tooLong(let path, let size, let body, let limit): tooLong(path, size, body, limit)
    case .recovered(let attempts, let files, let unknown): recovered(attempts, files, unknown)
    case .draining(let requests): requests > 0 ? "finishing \(Quantity.count(requests, "request"))" : nil
    case .diskTrouble(let error, let ms):
      "\(error); nothing new begins, and results wait up to \(Quantity.duration(ms)) to be recorded"
    case .circuitOpened(let host, let ms):
      "\(printable(host)) refuses connections; pausing: circuit open, next try in \(Quantity.duration(ms))"
    case .circuitClosed(let host): "\(printable(host)) answers again: circuit closed"
    case .waitingForCredential(let failure, let ms):
      "waiting up to \(Quantity.duration(ms)) for the credentials: \(printable(failure.message))"
    case .planned, .excluded: nil
    }
  }

  private static func tooLong(_ path: NameBytes, _ size: Int64, _ body: Int64, _ limit: Int64) -> String {
    let part = body < size ? ", sent in bodies of \(Quantity.bytes(body))" : ""
    return "cannot send \(path): it has \(Quantity.bytes(size))\(part), which is more than --max-bytes \(limit)"
  }

  private static func cause(_ failure: Failure) -> String { "\(failure.code.rawValue): \(printable(failure.message))" }

  /// The state left by the previous run.
  private static func recovered(_ attempts: Int, _ files: Int, _ unknown: Int) -> String? {
    guard attempts + files + unknown > 0 else { return nil }
    let doubt = unknown > 0 ? ", \(Quantity.count(unknown, "file")) now unknown" : ""
    let cut = Quantity.count(attempts, "request")
    return "the last run crashed: \(cut) interrupted, \(Quantity.count(files, "file")) will resume\(doubt)"
  }
}
