/// The known properties of the request of one attempt, from which a similar one can be made.
package struct RequestRow: Sendable, Hashable {
  package var attempt: AttemptID
  package var operation: AttemptOperation
  package var outcome: AttemptOutcome
  /// Whether it may be sent again without harm.
  package var isRepeatable: Bool
  package var settings: BatchSettings
  package var uid: UID
  package var path: NameBytes
  package var key: NameBytes
  package var size: Int64
  package var mtimeMs: Int64
  /// The properties that rules set for the object.
  package var properties = ObjectProperties()
  package var chunkSize: Int64?
  package var chunkCount: Int64?
  package var chunk: Chunk?
  package var session: Session?
  /// The receipts of all stored chunks, in order; for the steps that list them.
  package var parts: [PartReceipt] = []
  /// The range of the body, if it was recorded.
  package var body: ByteRange?

  /// A range of the file, with the server's values for it.
  package struct Chunk: Sendable, Hashable {
    package var seq: Int
    package var range: ByteRange
    package var remote: [String: String]

    package init(seq: Int, range: ByteRange, remote: [String: String]) {
      (self.seq, self.range, self.remote) = (seq, range, remote)
    }
  }

  /// An upload session as far as it is still known.
  package struct Session: Sendable, Hashable {
    package var id: Int64
    package var remoteID: String?
    package var notes: [String: String]

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
