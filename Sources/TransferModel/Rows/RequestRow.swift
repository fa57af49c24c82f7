/// The known properties of the request of one attempt, from which a similar one can be made.
public struct RequestRow: Sendable, Hashable {
  public var attempt: AttemptID
  public var operation: AttemptOperation
  public var outcome: AttemptOutcome
  /// Whether it may be sent again without harm.
  public var isRepeatable: Bool
  public var settings: BatchSettings
  public var uid: UID
  public var path: NameBytes
  public var key: NameBytes
  public var size: Int64
  public var mtimeMs: Int64
  /// The properties that rules set for the object.
  public var properties = ObjectProperties()
  public var chunkSize: Int64?
  public var chunkCount: Int64?
  public var chunk: Chunk?
  public var session: Session?
  /// The receipts of all stored chunks, in order; for the steps that list them.
  public var parts: [PartReceipt] = []
  /// The range of the body, if it was recorded.
  public var body: ByteRange?

  /// A range of the file, with the server's values for it.
  public struct Chunk: Sendable, Hashable {
    public var seq: Int
    public var range: ByteRange
    public var remote: [String: String]

    package init(seq: Int, range: ByteRange, remote: [String: String]) {
      (self.seq, self.range, self.remote) = (seq, range, remote)
    }
  }

  /// An upload session as far as it is still known.
  public struct Session: Sendable, Hashable {
    public var id: Int64
    public var remoteID: String?
    public var notes: [String: String]

    package init(id: Int64, remoteID: String?, notes: [String: String]) {
      (self.id, self.remoteID, self.notes) = (id, remoteID, notes)
    }
  }

  package init(
    attempt: AttemptID, operation: AttemptOperation, outcome: AttemptOutcome, isRepeatable: Bool,
    settings: BatchSettings, uid: UID, path: NameBytes, key: NameBytes, size: Int64, mtimeMs: Int64
  ) {
    (self.attempt, self.operation, self.outcome) = (attempt, operation, outcome)
    (self.isRepeatable, self.settings, self.uid) = (isRepeatable, settings, uid)
    (self.path, self.key, self.size, self.mtimeMs) = (path, key, size, mtimeMs)
  }
}
