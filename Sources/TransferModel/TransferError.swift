/// An operation of ours that could not be carried out, as opposed to one attempt that failed (``Failure``).
/// `kind` decides the exit code; the other parts make one line for people:
/// `open store "/x/y.db": disk is full; free space and run "transfers run"`.
public struct TransferError: Error, Sendable, Hashable {
  /// Closed set; each has exactly one exit code.
  public enum Kind: String, Sendable, CaseIterable, Codable {
    case bug
    case locked
    case storeMissing = "store.missing"
    case storeCorrupt = "store.corrupt"
    case storeNewer = "store.newer"
    case storeReadOnly = "store.read_only"
    case storeFull = "store.full"
    case storeBusy = "store.busy"
    case storeUnsuitable = "store.unsuitable"
    case storeIO = "store.io"
    /// A transition lost to another engine: our lease is gone.
    case leaseLost = "store.lease_lost"
    case usage
    case noSource = "no_source"
    /// A list of files that cannot be what was meant.
    case badList = "bad_list"
    case auth
    case config
    case interrupted
  }

  public var kind: Kind
  /// A verb phrase in lower case: `open store`.
  public var operation: String
  /// What it was done to, unescaped; empty when there is nothing to name.
  public var subject: NameBytes
  public var cause: String
  /// The remedy; empty when there is none.
  public var remedy: String

  public init(
    _ kind: Kind, _ operation: String, _ subject: NameBytes = NameBytes(""), cause: String, remedy: String = ""
  ) {
    self.kind = kind
    self.operation = operation
    self.subject = subject
    self.cause = cause
    self.remedy = remedy
  }
}

extension TransferError: CustomStringConvertible {
  /// One line, safe for a terminal.
  public var description: String {
    let what = subject.isEmpty ? operation : "\(operation) \"\(subject)\""
    let advice = remedy.isEmpty ? "" : "; \(remedy)"
    return "\(what): \(printable(cause))\(advice)"
  }
}
