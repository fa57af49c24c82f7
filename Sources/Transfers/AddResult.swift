public import TransferLedger
public import TransferModel

/// What an `add` recorded; counts are files.
public struct AddResult: Sendable, Hashable {
  /// nil when nothing had to be recorded: everything is there already.
  public var batch: BatchID?
  public var added = 0
  /// Of the added: newer versions of what was sent before.
  public var changed = 0
  public var unchanged = 0
  /// Already waiting, from an earlier batch.
  public var queued = 0
  /// Had failed before, unchanged since: tried again, in their earlier batch.
  public var requeued = 0
  /// Named more than once; taken once.
  public var repeated = 0
  public var unknown = 0
  public var failed = 0
  /// Links, FIFOs, sockets, devices.
  public var special = 0
  public var excluded = 0
  /// Of the added, in bytes.
  public var bytes: Int64 = 0

  /// The files that were recorded or found queued, to look for later.
  public var files: AddedFiles

  public init(batch: BatchID?, files: AddedFiles) {
    self.batch = batch
    self.files = files
  }
}

/// What an `add` would record, and what sending it would take.
public struct PlanResult: Sendable, Hashable {
  public var new = 0
  public var unchanged = 0
  public var changed = 0
  public var queued = 0
  /// Failed before; they go on.
  public var requeued = 0
  /// The outcome of their last upload is unknown: they are not sent again by themselves.
  public var unknown = 0
  /// Named more than once; counted once above.
  public var repeated = 0
  public var excluded = 0
  /// The excluded by the rule that left them out, most files first. A folder that is not entered counts as one.
  public var excludedBy: [ExcludedFiles] = []
  public var special = 0
  public var failed = 0
  public var chunks = 0
  /// When nothing has to be repeated, at a server that can all that the protocol makes use of.
  public var requests = 0
  public var bytes: Int64 = 0
  /// Where requests go, as far as it is known before any is made: `https://host`. The destination is the first.
  public var hosts: [String] = []
  /// Variables of the environment that hold credentials and inputs, sorted.
  public var variables: [String] = []

  public init() {}
}

/// Files that one rule leaves out.
public struct ExcludedFiles: Sendable, Hashable {
  /// As typed: `--exclude *.tmp`.
  public var rule: String
  public var files: Int

  public init(rule: String, files: Int) {
    self.rule = rule
    self.files = files
  }
}
