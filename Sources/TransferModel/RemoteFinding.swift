/// What a question to a destination found of a file that was stored there before.
public struct RemoteFinding: Sendable, Hashable {
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The object is there, and is what was confirmed as far as the answer tells.
    case found
    /// The destination says that there is none.
    case lost
    /// Its size or a digest is another one.
    case differs
  }

  public var verdict: Verdict
  /// What the answer told; its confirmation is what was compared, and `none` unless it was found.
  public var proof: FileProof
  /// Bytes, as the answer told; nil when it did not.
  public var size: Int64?
  /// How it differs, or who says that it is gone; empty for what was found.
  public var detail: String

  public init(_ verdict: Verdict, _ proof: FileProof, size: Int64? = nil, detail: String = "") {
    (self.verdict, self.proof, self.size, self.detail) = (verdict, proof, size, detail)
  }
}

/// An upload that is done, as its destination is asked about it again.
public struct DoneUpload: Sendable, Hashable {
  public var id: FileID
  public var batch: BatchID
  public var uid: UID
  public var path: NameBytes
  public var key: NameBytes
  /// Bytes.
  public var size: Int64
  public var mtimeNs: Int64
  /// With which it was done.
  public var proof: FileProof
  /// The session that was completed with it; nil when there was none.
  public var session: SessionFacts?
  /// A newer generation of its key was begun, which may have replaced it at the destination.
  public var isBeingReplaced: Bool
  /// Another ledger recorded it, and knows how to ask.
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

/// The newest that was found of a file since it is done, at its destination or here.
public struct LaterFinding: Sendable, Hashable {
  public var finding: String
  /// What was compared.
  public var confirmation: String
  /// Bytes, as they were found.
  public var size: Int64?
  public var digest: String?
  public var etag: String
  /// The question; nil for what was seen here.
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
