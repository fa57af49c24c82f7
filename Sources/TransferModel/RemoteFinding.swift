/// The finding of a query to a destination about a file that was stored there.
package struct RemoteFinding: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The object exists, and equals the confirmed one as far as the answer shows.
    case found
    /// The destination reports that it does not exist.
    case lost
    /// Its size or a digest differs.
    case differs
  }

  package var outcome: Outcome
  /// The proof in the answer; its confirmation is the compared property, and `none` unless it was found.
  package var proof: FileProof
  /// Bytes, from the answer; nil if it contained none.
  package var size: Int64?
  /// How it differs, or which answer reported it missing; empty for `found`.
  package var detail: String

  package init(_ outcome: Outcome, _ proof: FileProof, size: Int64? = nil, detail: String = "") {
    (self.outcome, self.proof, self.size, self.detail) = (outcome, proof, size, detail)
  }
}

/// A done upload, as input of a later query to its destination.
package struct DoneUpload: Sendable, Hashable {
  package var id: FileID
  package var batch: BatchID
  package var uid: UID
  package var path: NameBytes
  package var key: NameBytes
  /// Bytes.
  package var size: Int64
  package var mtimeNs: Int64
  /// The proof with which it became done.
  package var proof: FileProof
  /// The session that was completed with it; nil when there was none.
  package var session: SessionFacts?
  /// A newer generation of its key was begun, which may have replaced it on the destination.
  package var isBeingReplaced: Bool
  /// It was merged from another ledger, which is the one that can query it.
  package var isMerged: Bool

  package init(
    id: FileID, batch: BatchID, uid: UID, path: NameBytes, key: NameBytes, size: Int64, mtimeNs: Int64,
    proof: FileProof, session: SessionFacts? = nil, isBeingReplaced: Bool = false, isMerged: Bool = false
  ) {
    (self.id, self.batch, self.uid, self.path, self.key) = (id, batch, uid, path, key)
    (self.size, self.mtimeNs, self.proof, self.session) = (size, mtimeNs, proof, session)
    (self.isBeingReplaced, self.isMerged) = (isBeingReplaced, isMerged)
  }
}

/// The newest finding about a file since it became done, at its destination or locally.
package struct LaterFinding: Sendable, Hashable {
  package var finding: String
  /// What was compared.
  package var confirmation: String
  /// Bytes, as they were found.
  package var size: Int64?
  package var digest: String?
  package var etag: String
  /// The query; nil for a local finding.
  package var attempt: AttemptID?
  /// Milliseconds since 1970 UTC.
  package var atMs: Int64

  package init(
    finding: String, confirmation: String, size: Int64?, digest: String?, etag: String, attempt: AttemptID?,
    atMs: Int64
  ) {
    (self.finding, self.confirmation, self.size, self.digest) = (finding, confirmation, size, digest)
    (self.etag, self.attempt, self.atMs) = (etag, attempt, atMs)
  }
}
