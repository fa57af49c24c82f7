package import TransferModel
import TransferProtocols

/// The result of one file for HTCondor: the attributes that every version requires, those that HTCondor's own curl
/// plug-in reports (if they are known), and why it failed.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins" and "Transfer Error Data".
package struct CondorResult: Sendable {
  let file: CondorFile
  let direction: Direction
  /// nil for a file that was not recorded.
  let row: FileRow?
  let last: AttemptRow?
  let retryAfterMs: Int64?
  /// Why nothing of its batch, or nothing at all, could be transferred.
  let error: TransferError?

  package var isDone: Bool { row?.state == FileState.done.rawValue }

  /// - Throws: errors of the store.
  init(
    _ file: CondorFile, _ direction: Direction, _ row: FileRow?, _ error: TransferError?, _ reader: StoreReader?
  ) throws {
    (self.file, self.direction, self.row, self.error) = (file, direction, row, file.fault ?? error)
    let attempts = try row.flatMap { try reader?.newestAttempts(of: $0.id, chunk: nil, limit: 8) } ?? []
    last = (row?.state == FileState.done.rawValue ? nil : attempts.last { $0.errorCode != nil }) ?? attempts.last
    retryAfterMs = try last.flatMap { try reader?.retryAfterMs(of: $0.id) }
  }

  init(_ file: CondorFile, _ direction: Direction, _ error: TransferError?) {
    (self.file, self.direction, self.error) = (file, direction, file.fault ?? error)
    (row, last, retryAfterMs) = (nil, nil, nil)
  }

  /// The ad with the answer.
  package func ad(wallMs: Int64) -> [UInt8] {
    let ended = row?.finishedMs ?? wallMs
    let started = min(row?.startedMs ?? ended, ended)
    let url = file.url.utf8 ?? ""
    let scheme = url.prefix { $0 != ":" }
    var ad = ClassAd([
      ("TransferSuccess", .boolean(isDone)),
      ("TransferUrl", .string(file.url.bytes)), ("TransferFileName", .string(file.localName.bytes)),
      ("TransferType", .string(direction.rawValue)), ("TransferProtocol", .string(String(scheme))),
      ("TransferHostName", .string(host)), ("TransferLocalMachineName", .string(HostFacts.name)),
      ("TransferFileBytes", .integer(isDone ? row?.size ?? 0 : 0)),
      ("TransferTotalBytes", .integer(row?.bytesTransferred ?? 0)),
      ("TransferStartTime", .integer(started / 1_000)), ("TransferEndTime", .integer(ended / 1_000)),
      ("ConnectionTimeSeconds", .real(Double(ended - started) / 1_000)),
      ("DeveloperData", .ad(details)),
    ])
    if !isDone {
      ad["TransferError"] = .string(text)
      ad["TransferErrorData"] = .list([.ad(CondorFailure(self).ad(wallMs: wallMs))])
    }
    return ad.newText
  }

  /// Details for diagnosis, including the uid under which the file is in the ledger.
  private var details: ClassAd {
    ClassAd([
      ("TransfersVersion", .string(TransferClient.version)), ("TransfersFile", row.map { .string($0.uid) }),
      ("TransferTries", .integer(row?.attempts ?? 0)), ("TransferConfirmedBy", row?.confirmedBy.map { .string($0) }),
      ("TransferHTTPStatusCode", last?.httpStatus.map { .integer($0) }),
      ("LibcurlReturnCode", last?.curlCode.map { .integer($0) }),
    ])
  }

  /// Host and port, without a user and password that may precede them in the URL.
  var host: String {
    let rest = (file.url.utf8 ?? "").split(separator: "://", maxSplits: 1).dropFirst().first ?? ""
    return rest.prefix { !"/?#".contains($0) }.split(separator: "@").last.map(String.init) ?? ""
  }

  /// For the people who submitted the job; without secrets.
  var text: String {
    if let code = row?.cause ?? last?.errorCode, !isDone {
      let message = printable(row?.message ?? last?.message ?? "")
      return "\(code)\(message.isEmpty ? "" : ": ")\(message)" + (row?.state == "unknown" ? Self.unknown : "")
    }
    return error.map { "\($0)" } ?? "it was not transferred: the run ended first"
  }

  private static let unknown = " (it may have arrived; see \"transfers help resolve\")"
}

/// Why a file failed, in the terms of HTCondor.
struct CondorFailure {
  private let result: CondorResult
  private let code: ErrorCode?

  init(_ result: CondorResult) {
    self.result = result
    code = (result.row?.cause ?? result.last?.errorCode).flatMap { ErrorCode(rawValue: $0) }
  }

  /// Seconds after which a retry makes sense; -1 for never.
  func retrySeconds(wallMs: Int64) -> Int64 {
    guard isPassing else { return -1 }
    let due = result.last.flatMap { last in
      (result.retryAfterMs ?? last.backoffMs ?? 0) + (last.endedMs ?? wallMs)
    }
    return max(0, ((due ?? wallMs) - wallMs + 999) / 1_000)
  }

  private static let passing: [TransferError.Kind] = [.locked, .storeBusy]

  /// Whether a retry can succeed without anybody changing anything. A file that may have arrived is not sent twice.
  private var isPassing: Bool {
    guard let state = result.row?.state else { return result.error.map { Self.passing.contains($0.kind) } ?? false }
    if state == "unknown" { return false }
    if state != "failed" { return result.error == nil }
    switch code {
    case .http429, .http500, .http502, .http503, .http504, .http423, .http5xx: return true
    default: return code?.blame == .network && code != .netCert
    }
  }

  func ad(wallMs: Int64) -> ClassAd {
    var ad = ClassAd([
      ("Retryable", .integer(retrySeconds(wallMs: wallMs))),
      ("ErrorCode", .integer(result.last?.httpStatus ?? result.last?.curlCode ?? 1)),
      ("ErrorString", .string(result.text)),
    ])
    for (name, value) in kind { ad[name] = value }
    return ad
  }

  private var kind: [(String, ClassAd.Value)] {
    let server = ("FailedServer", ClassAd.Value.string(result.host))
    func type(_ name: String) -> (String, ClassAd.Value) { ("ErrorType", .string(name)) }
    func failure(_ name: String) -> (String, ClassAd.Value) { ("FailureType", .string(name)) }
    switch code {
    case .netDNS: return [type("Resolution"), ("FailedName", .string(result.host)), failure("Unknown")]
    case .netRefused, .netUnreachable, .netConnectTimeout, .netTLS, .netCert: return [type("Contact"), server]
    case .http401, .authMissing, .authExpired:
      return [type("Authorization"), server, failure("Authentication"), ("ShouldRefresh", .boolean(true))]
    case .http403, .authRefused, .authNeedsURL:
      return [type("Authorization"), server, failure("Authorization"), ("ShouldRefresh", .boolean(false))]
    case .http404, .http410, .protoNoDestination: return [type("Specification"), server]
    case .localDiskFull: return [type("Transfer"), server, failure("NoSpace")]
    case .http507: return [type("Transfer"), server, failure("Quota")]
    case .netTimeout: return [type("Transfer"), server, failure("TimedOut")]
    case .netStalled: return [type("Transfer"), server, failure("TooSlow")]
    case .some(let code) where code.blame == .network || code.blame == .server:
      return [type("Transfer"), server, failure("Unknown")]
    case nil where result.error == nil: return [type("Transfer"), server, failure("TimedOut")]
    case nil where result.error?.kind == .storeFull: return [type("Transfer"), server, failure("NoSpace")]
    default:
      return [
        type("Parameter"), ("PluginVersion", .string(TransferClient.version)), ("PluginLaunched", .boolean(true)),
      ]
    }
  }
}

extension CondorResult {
  /// Results for files that are not in a ledger.
  package static func all(
    _ files: [CondorFile], _ direction: Direction, _ error: TransferError?
  ) -> [CondorResult] {
    files.map { CondorResult($0, direction, error) }
  }

  /// Whether another call may succeed.
  package func isRetryable(wallMs: Int64) -> Bool { CondorFailure(self).retrySeconds(wallMs: wallMs) >= 0 }

  /// One line, safe for a terminal.
  package var summary: String { "\(file.localName): \(text)" }
}
