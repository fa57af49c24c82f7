/// What people are told while something happens.
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
  /// A rule left it out: `--exclude *.tmp`.
  case excluded(path: NameBytes, rule: String)
  /// Of a plan: `new`, `unchanged`, `changed`, `requeued`, `queued`, `unknown`.
  case planned(path: NameBytes, key: NameBytes?, size: Int64?, verdict: String)
  case recovered(attempts: Int, files: Int, unknown: Int)
  case draining(requests: Int)
  /// The ledger's disk is full or fails: nothing new begins, and results wait in memory for up to so long.
  case diskTrouble(TransferError, waitMs: Int64)
  /// A host refuses connections: nothing is sent to it for so long.
  case circuitOpened(host: String, forMs: Int64)
  /// It answers again.
  case circuitClosed(host: String)
  /// What gives a credential is away, and is asked again for up to so long.
  case waitingForCredential(Failure, mostMs: Int64)
}
