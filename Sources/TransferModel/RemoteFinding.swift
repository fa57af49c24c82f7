/// The finding of a query to a destination about a file that was stored there.
public struct RemoteFinding: Sendable, Hashable {
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The object exists, and equals the confirmed one as far as the answer shows.
    case found
    /// The destination reports that it does not exist.
    case lost
    /// Its size or a digest differs.
    case differs
  }

  public var verdict: Verdict
  /// The proof in the answer; its confirmation is the compared property, and `none` unless it was found.
  public var proof: FileProof
  /// Bytes, from the answer; nil if it contained none.
  public var size: Int64?
  /// How it differs, or which answer reported it missing; empty for `found`.
  public var detail: String

  public init(_ verdict: Verdict, _ proof: FileProof, size: Int64? = nil, detail: String = "") {
    (self.verdict, self.proof, self.size, self.detail) = (verdict, proof, size, detail)
  }
}

/// A done upload, as input of a later query to its destination.
public struct DoneUpload: Sendable, Hashable {
  public var id: FileID
  public var batch: BatchID
  public var uid: UID
  public var path: NameBytes
  public var key: NameBytes
  /// Bytes.
  public var size: Int64
  public var mtimeNs: Int64
  /// The proof with which it became done.
  public var proof: FileProof
  /// The session that was completed with it; nil when there was none.
  public var session: SessionFacts?
  /// A newer generation of its key was begun, which may have replaced it on the destination.
  public var isBeingReplaced: Bool
  /// It was merged from another ledger, which is the one that can query it.
  public var isMerged: Bool

  public init(
    id: FileID, batch: BatchID, uid: UID, path: NameBytes, key: NameBytes, size: Int64, mtimeNs: Int64,
    proof: FileProof, session: SessionFacts? = nil, isBeingReplaced: Bool = false, isMerged: Bool = false
  ) {
    (self.id, self.batch, self.uid, self.path, self.key) = (id, batch, uid, path, key)
    (self.size, self.mtimeNs, self.proof, self.session) = (size, mtimeNs, proof, session)
    (self.isBeingReplaced, self.isMerged) = (isBeingReplaced, isMerged)
  }
}

/// The newest finding about a file since it became done, at its destination or locally.
public struct LaterFinding: Sendable, Hashable {
  public var finding: String
  /// What was compared.
  public var confirmation: String
  /// Bytes, as they were found.
  public var size: Int64?
  public var digest: String?
  public var etag: String
  /// The query; nil for a local finding.
  public var attempt: AttemptID?
  /// Milliseconds since 1970 UTC.
  public var atMs: Int64

  package init(
    finding: String, confirmation: String, size: Int64?, digest: String?, etag: String, attempt: AttemptID?,
    atMs: Int64
  ) {
    (self.finding, self.confirmation, self.size, self.digest) = (finding, confirmation, size, digest)
    (self.etag, self.attempt, self.atMs) = (etag, attempt, atMs)
  }
}
