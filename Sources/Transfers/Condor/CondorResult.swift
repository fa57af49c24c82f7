package import TransferModel
import TransferProtocols

/// The result of one file for HTCondor: the attributes that every version requires, those that HTCondor's own curl
/// plug-in reports (if they are known), and why it failed.
///
/// Source: HTCondor 25 manual, "File Transfer Plug-Ins" and "Transfer Error Data".
package struct CondorResult: Sendable {
  private let url, localName: NameBytes
  private let direction: Direction
  private let outcome: PairOutcome

  package init(_ file: CondorFile, _ direction: Direction, _ outcome: PairOutcome) {
    (url, localName, self.direction, self.outcome) = (file.url, file.localName, direction, outcome)
  }

  /// The answer when the input is invalid, so that no file has one.
  package init(unread direction: Direction, _ error: TransferError) {
    (url, localName, self.direction) = (NameBytes(""), NameBytes(""), direction)
    outcome = PairOutcome(FilePair(url: url, path: localName), error)
  }

  package var isDone: Bool { outcome.isDone }
  /// One line, safe for a terminal.
  package var summary: String { "\(localName): \(outcome.text)" }
  private var failure: CondorFailure { CondorFailure(outcome: outcome, host: host) }

  /// Whether another call may succeed.
  package func isRetryable(wallMs: Int64) -> Bool { failure.retrySeconds(wallMs: wallMs) >= 0 }

  /// The ad with the answer.
  package func ad(wallMs: Int64) -> [UInt8] {
    let row = outcome.row
    let ended = row?.finishedMs ?? wallMs
    let started = min(row?.startedMs ?? ended, ended)
    var ad = ClassAd([
      ("TransferSuccess", .boolean(isDone)),
      ("TransferUrl", .string(url.bytes)), ("TransferFileName", .string(localName.bytes)),
      ("TransferType", .string(direction.rawValue)),
      ("TransferProtocol", .string(Array(url.bytes.prefix { $0 != 0x3A }))),
      ("TransferHostName", .string(host)), ("TransferLocalMachineName", .string(HostFacts.name)),
      ("TransferFileBytes", .integer(isDone ? row?.size ?? 0 : 0)),
      ("TransferTotalBytes", .integer(row?.bytesTransferred ?? 0)),
      ("TransferStartTime", .integer(started / 1_000)), ("TransferEndTime", .integer(ended / 1_000)),
      ("ConnectionTimeSeconds", .real(Double(ended - started) / 1_000)),
      ("DeveloperData", .ad(details)),
    ])
    if !isDone {
      ad["TransferError"] = .string(outcome.text)
      ad["TransferErrorData"] = .list([.ad(failure.ad(wallMs: wallMs))])
    }
    return ad.newText
  }

  /// Details for diagnosis, including the uid under which the file is in the ledger.
  private var details: ClassAd {
    let (row, last) = (outcome.row, outcome.last)
    return ClassAd([
      ("TransfersVersion", .string(TransferClient.version)), ("TransfersFile", row.map { .string($0.uid) }),
      ("TransferTries", .integer(row?.attempts ?? 0)), ("TransferConfirmedBy", row?.confirmedBy.map { .string($0) }),
      ("TransferHTTPStatusCode", last?.httpStatus.map { .integer($0) }),
      ("LibcurlReturnCode", last?.curlCode.map { .integer($0) }),
    ])
  }

  /// Host and port, without a user and password that may precede them in the URL.
  private var host: String {
    let rest = (url.utf8 ?? "").split(separator: "://", maxSplits: 1).dropFirst().first ?? ""
    return rest.prefix { !"/?#".contains($0) }.split(separator: "@").last.map(String.init) ?? ""
  }
}
