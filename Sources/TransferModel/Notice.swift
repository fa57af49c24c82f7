/// A notification for people during an operation.
public enum Notice: Sendable {
  case skipped(path: NameBytes, reason: String)
  /// About the sources as a whole.
  case remark(String)
  case failed(path: NameBytes, Failure)
  case unknown(path: NameBytes, Failure)
  case retrying(path: NameBytes, Failure, inMs: Int64)
  /// The file waits for the next run.
  case waiting(path: NameBytes, Failure)
  case sourceChanged(path: NameBytes)
  /// Information about the file that is not a failure.
  case noted(path: NameBytes, String)
  /// Excluded by a rule: `--exclude *.tmp`.
  case excluded(path: NameBytes, rule: String)
  /// Of a plan: `new`, `unchanged`, `changed`, `requeued`, `queued`, `unknown`.
  case planned(path: NameBytes, key: NameBytes?, size: Int64?, verdict: String)
  /// A body of the file is longer than the byte limit of the run: no run with this limit can send it. In bytes.
  case tooLong(path: NameBytes, size: Int64, body: Int64, limit: Int64)
  case recovered(attempts: Int, files: Int, unknown: Int)
  case draining(requests: Int)
  /// The ledger's disk is full or fails: no request begins, and results are kept in memory for at most `waitMs`.
  case diskTrouble(TransferError, waitMs: Int64)
  /// A host refuses connections: nothing is sent to it for `forMs`.
  case circuitOpened(host: String, forMs: Int64)
  /// It answers again.
  case circuitClosed(host: String)
  /// A credential service is unavailable, and is retried for at most `mostMs`.
  case waitingForCredential(Failure, mostMs: Int64)
}
