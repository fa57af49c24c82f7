public import TransferModel

/// What an answer means, and therefore what is written. In each case the engine closes the attempt, changes the rows
/// in one transaction, then updates the facts as told here.
public enum Verdict: Sendable {
  /// `create` succeeded: session row → `open`. Clears `lostAnswer`.
  case sessionOpened(remoteID: String, expiresAtMs: Int64?)
  /// A page of what the server stored. Chunks that the ledger calls done and the complete listing lacks are pending again.
  /// With `next == nil` the probe is complete: `isProbed`, and `lostAnswer` is cleared unless it is `finish`.
  case partsListed([ListedPart], next: String?)
  /// A page of sessions at the server that can only be lost creates of ours. Complete with `next == nil`: as above.
  case orphansListed([String], next: String?)
  /// The chunk is stored. `proof` is present when that was the whole upload (protocols without a finish step).
  case stored(PartReceipt, proof: FileProof?)
  /// Part of the chunk is stored: the server holds `acked` bytes from its start, more than before and not all. The chunk is
  /// pending again, with no failure.
  case advanced(acked: Int64)
  /// `prepareChunk` got what the chunk needs; its body is next.
  case chunkPrepared([String: String])
  /// `probeChunk`: the server holds `acked` bytes from its start, which may be none. All of it is ``stored(_:proof:)``.
  case chunkProbed(acked: Int64)
  /// `probe` or `create`: the server holds the first `offset` bytes of the file. Chunks below are done, chunks above are not,
  /// whatever was known before; the one between has its part. Sets `isProbed`, clears `lostAnswer` unless it is `finish`.
  case offset(Int64)
  /// The finish step, or a `verify` after a lost answer, showed that the object is there.
  case finished(FileProof)
  /// `verify`: nothing of ours is there. Sets `isAbsent`, clears `lostAnswer`.
  case absent
  /// `verify` or `probe`: the server does not say (no permission, a method that it does not know), which is not "absent". The
  /// operation joins `untold`; a probe counts as made.
  case untold
  /// `abort`, `makeParent`, `discover`, `finish` or `save` did its work (404 counts for abort). Clears `lostAnswer` of its kind.
  case settled
  /// The server is at it: the same step again after so many milliseconds, with no failure. The file leaves the engine meanwhile.
  case notYet(afterMs: Int64)
  case failed(Failure, Remedy)
  /// Applied to the destination's ``LearnedFacts`` beside any verdict that carries it.
  indirect case learned(LearnedFacts, Verdict)
  /// To be remembered with the live session, in the same transaction; an empty value forgets the name. Beside any verdict, also
  /// a failure, while there is a session.
  indirect case noted([String: String], Verdict)
  /// The whole body of a chunk went out, and its answer is lost or says nothing: what is remembered with the chunk shows in a
  /// listing whether it is there. Sets `lostAnswer`, clears `isProbed`, so that the protocol can ask before it is sent again.
  indirect case doubted([String: String], Verdict)
  /// The request of ``UploadStep/chunkThatOpensSession`` opened the session, whatever became of its body.
  indirect case opened(remoteID: String, expiresAtMs: Int64?, Verdict)
}

public struct ListedPart: Sendable, Hashable {
  public var seq: Int
  public var length: Int64
  public var etag: String
  /// The chunk was in doubt (``Verdict/doubted(_:_:)``), and the listing proves that it is there.
  public var receipt: PartReceipt?
  /// The checksum of it that the listing shows, when it is one that we compute.
  public var checksum: Digest?

  public init(seq: Int, length: Int64, etag: String, receipt: PartReceipt? = nil) {
    self.seq = seq
    self.length = length
    self.etag = etag
    self.receipt = receipt
  }
}

/// What can be done about a failure.
public enum Remedy: Sendable, Hashable {
  /// The same step again after backoff. The engine sets `lostAnswer` when the request may have arrived.
  case retry(isThrottled: Bool)
  /// The same step again at once, because the facts changed (region, clock, checksum support); at most 3 times in a row.
  case repair
  /// Missing parent: the next step will make it (WebDAV).
  case makeParents
  /// Credentials expired: read them again, once, then the same step.
  case refreshCredential
  /// The destination refuses, and the file may not be at fault: it leaves the engine with no failure. Only the engine says so,
  /// which knows what became of other files.
  case hold
  /// The server forgot the session: session row → `gone`, chunks → pending, start with a new one (verify first when a
  /// finish may have been done).
  case sessionGone
  /// Ask the server first, then go on; counts as an attempt.
  case probe
  /// For this file, final.
  case permanent
  /// The answer was lost, repeating may double, and nobody can be asked: file → `unknown`.
  case unknown
}

/// The proof for a done file; becomes the receipt row.
public struct FileProof: Sendable, Hashable {
  public var confirmation: Confirmation
  /// Of the whole file, computed by us from the bytes sent; nil when the algorithm cannot be combined over chunks.
  public var digest: Digest?
  /// As the server reported it, same algorithm; nil when it did not.
  public var remoteDigest: Digest?
  public var etag: String
  public var versionID: String
  public var requestID: String
  /// The `Date` of the confirming answer, as received.
  public var serverDate: String

  public init(
    confirmation: Confirmation, digest: Digest? = nil, remoteDigest: Digest? = nil, etag: String = "",
    versionID: String = "", requestID: String = "", serverDate: String = ""
  ) {
    self.confirmation = confirmation
    self.digest = digest
    self.remoteDigest = remoteDigest
    self.etag = etag
    self.versionID = versionID
    self.requestID = requestID
    self.serverDate = serverDate
  }
}

extension Remedy {
  /// How often a session that vanished with every chunk stored is taken for one that is being completed: `.sessionGone` then
  /// asks for the end again, and nothing is forgotten.
  public static let completionPatience = 2
}
