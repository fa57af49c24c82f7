/// An operation of ours that could not be carried out, as opposed to one attempt that failed (``Failure``).
/// `kind` decides the exit code; the other parts make one line for people:
/// `open store "/x/y.db": disk is full; free space and run "transfers run"`.
public struct TransferError: Error, Sendable, Hashable {
  /// The kind of error, with a stable name. Kinds may be added, so a `switch` needs a default. Each known kind has
  /// exactly one exit code.
  public struct Kind: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    public static let bug = Kind(rawValue: "bug")
    public static let locked = Kind(rawValue: "locked")
    public static let storeMissing = Kind(rawValue: "store.missing")
    public static let storeCorrupt = Kind(rawValue: "store.corrupt")
    public static let storeNewer = Kind(rawValue: "store.newer")
    public static let storeReadOnly = Kind(rawValue: "store.read_only")
    public static let storeFull = Kind(rawValue: "store.full")
    public static let storeBusy = Kind(rawValue: "store.busy")
    public static let storeUnsuitable = Kind(rawValue: "store.unsuitable")
    public static let storeIO = Kind(rawValue: "store.io")
    /// A transition lost to another engine: our lease is gone.
    public static let leaseLost = Kind(rawValue: "store.lease_lost")
    public static let usage = Kind(rawValue: "usage")
    public static let noSource = Kind(rawValue: "no_source")
    /// An invalid list of files.
    public static let badList = Kind(rawValue: "bad_list")
    public static let auth = Kind(rawValue: "auth")
    public static let config = Kind(rawValue: "config")
    public static let interrupted = Kind(rawValue: "interrupted")

    /// Those that this version knows.
    public static let known: [Kind] = [
      .bug, .locked, .storeMissing, .storeCorrupt, .storeNewer, .storeReadOnly, .storeFull, .storeBusy,
      .storeUnsuitable, .storeIO, .leaseLost, .usage, .noSource, .badList, .auth, .config, .interrupted,
    ]
  }

  public var kind: Kind
  /// A verb phrase in lower case: `open store`.
  public var operation: String
  /// The subject of the operation, unescaped; empty if there is none.
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
