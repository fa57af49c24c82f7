public import TransferModel

/// The meaning of an answer. ``TransferFacts/apply(_:to:_:)`` determines how it changes the facts of a file; the engine
/// closes the attempt, changes the rows in one transaction, and applies the interpretation to the facts.
public struct Interpretation: Sendable {
  /// The outcome of the request.
  package var outcome: Outcome
  /// New facts about the destination, which replace the previous ones.
  public var learned: LearnedFacts?
  /// Notes for the live session, stored in the same transaction; an empty value removes a name. Possible with any
  /// outcome while there is a session.
  public var notes: [String: String] = [:]
  /// The body of a chunk was sent completely, and its answer is lost or inconclusive: these notes of the chunk are used
  /// to recognise it in a listing.
  public var doubt: [String: String]?
  /// The session that the request opened, independent of the outcome of its body.
  public var opened: OpenedSession?
  /// The new route of the file, which replaces the previous one.
  public var route: Route?
  /// For a file with mirrors, the place that answered; 0 is the URL of the file.
  public var mirror = 0
  /// The received bytes prove that their server has different content.
  public var provesWrong = false
  /// The server reports success in a form that cannot be used, which more bodies would hardly change: with a failure
  /// that is to be retried, which is final when the chunk gets such an answer again.
  public var isUnusableSuccess = false
  /// Notes of the chunk while it is not stored; they replace previous ones. With a failure.
  public var chunkNotes: [String: String]?
  /// Checksums of the blocks of the file: those of an older local file are compared with them next.
  public var blocks: PublishedBlocks?
  /// A finer layout for a download of which no more than the beginning of the first chunk is stored.
  package var division: ChunkLayout?
  /// With ``Outcome/pieceStored(_:)``: how many bytes of the requested range are stored; nil for all of them.
  public var received: Int64?
  /// Information for people that is not a failure.
  public var remark: String?
  /// What the answer says about its host where that does not follow from the outcome: the file can do without what was
  /// requested.
  public var tolerated: Tolerated?

  public enum Tolerated: Sendable, Hashable {
    /// The host is healthy, regardless of the status.
    case answer
    /// A failure of the host, not of the file.
    case failure(Failure, isThrottled: Bool = false)
  }

  package enum Outcome: Sendable {
    /// `create`, `abort`, `makeParent`, `discover`, `finish` or `save` succeeded (404 counts for `abort`).
    case settled
    /// A page of the stored chunks. Chunks that are recorded as stored but missing in the complete list become pending.
    /// With `next == nil` the probe is complete.
    case partsListed([ListedPart], next: String?)
    /// A page of sessions on the server that can only be from our lost create requests. Complete with `next == nil`.
    case unlistedUploads([String], next: String?)
    /// The chunk is stored. `proof` is set if that completed the upload (protocols without a finish step).
    case stored(PartReceipt, proof: FileProof?)
    /// A part of the chunk is stored: the server has `acked` bytes from its start, more than before but not all. The
    /// chunk is pending again, without a failure.
    case advanced(acked: Int64)
    /// `prepareChunk` got the values that the chunk needs; its body is next.
    case chunkPrepared([String: String])
    /// A body with a part of the chunk is stored; these notes say which parts are missing. The chunk is pending again.
    case pieceStored([String: String])
    /// `probeChunk`: the server has `acked` bytes from the chunk's start, which may be none. All of it is
    /// ``stored(_:proof:)``.
    case chunkProbed(acked: Int64)
    /// `probe` or `create`: the server has the first `offset` bytes of the file. Chunks below are stored, chunks above
    /// are not, whatever was known before; the one in between is partly stored.
    case offset(Int64)
    /// `create` of a download: the version of the file is known, and its first bytes arrived.
    case begun(FileBeginning)
    /// `probe` of a folder: a page of its contents.
    case listed(ListedPage)
    /// The finish step, or a `verify` after a lost answer, showed that the object exists.
    case finished(FileProof)
    /// `verify`: our object does not exist.
    case absent
    /// `verify` or `probe`: inconclusive (no permission, an unsupported method), which is not "absent".
    case inconclusive
    /// The server is still processing: repeat the step after `afterMs`, without a failure. The file is released
    /// meanwhile.
    case notYet(afterMs: Int64)
    case failed(Failure, FailureAction)
  }

  package init(_ outcome: Outcome) { self.outcome = outcome }
}

/// The content of the answer to the first request of a download.
public struct FileBeginning: Sendable, Hashable {
  /// The layout of the file, if it had none.
  package var layout: ChunkLayout
  /// Stored bytes of the first chunk, from the start of the file.
  public var received: Int64
  /// The receipt of the first chunk, if all of it is stored.
  package var part: PartReceipt?
  /// The receipt of the only chunk, if another local file had all of it.
  package var reused: PartReceipt?

  package init(layout: ChunkLayout, received: Int64, part: PartReceipt? = nil) {
    (self.layout, self.received, self.part) = (layout, received, part)
  }
}

/// A session with the server's ID.
public struct OpenedSession: Sendable, Hashable {
  public var remoteID: String
  /// Milliseconds since 1970 UTC; nil when the server named no end.
  public var expiresAtMs: Int64?

  public init(remoteID: String, expiresAtMs: Int64?) {
    self.remoteID = remoteID
    self.expiresAtMs = expiresAtMs
  }
}

extension Interpretation {
  public static let settled = Self(.settled)
  public static let absent = Self(.absent)
  public static let inconclusive = Self(.inconclusive)

  public static func opened(_ session: OpenedSession) -> Self { settled.with(opened: session) }
  public static func partsListed(_ parts: [ListedPart], next: String?) -> Self { Self(.partsListed(parts, next: next)) }
  public static func unlistedUploads(_ ids: [String], next: String?) -> Self { Self(.unlistedUploads(ids, next: next)) }
  package static func stored(_ part: PartReceipt, proof: FileProof?) -> Self { Self(.stored(part, proof: proof)) }
  public static func advanced(acked: Int64) -> Self { Self(.advanced(acked: acked)) }
  public static func chunkPrepared(_ remote: [String: String]) -> Self { Self(.chunkPrepared(remote)) }
  public static func pieceStored(_ remote: [String: String]) -> Self { Self(.pieceStored(remote)) }
  public static func chunkProbed(acked: Int64) -> Self { Self(.chunkProbed(acked: acked)) }
  public static func offset(_ offset: Int64) -> Self { Self(.offset(offset)) }
  package static func finished(_ proof: FileProof) -> Self { Self(.finished(proof)) }
  public static func notYet(afterMs: Int64) -> Self { Self(.notYet(afterMs: afterMs)) }
  public static func failed(_ failure: Failure, _ action: FailureAction) -> Self { Self(.failed(failure, action)) }

  /// A copy with these facts about the destination.
  public func with(learned: LearnedFacts) -> Self { changed { $0.learned = learned } }

  /// A copy with additional notes; new values replace existing ones.
  public func with(notes: [String: String]) -> Self { changed { $0.notes.merge(notes) { _, new in new } } }

  public func with(doubt: [String: String]) -> Self { changed { $0.doubt = doubt } }

  public func with(opened: OpenedSession) -> Self { changed { $0.opened = opened } }

  public func with(route: Route) -> Self { changed { $0.route = route } }

  public func with(tolerated: Tolerated) -> Self { changed { $0.tolerated = tolerated } }

  /// A copy that is marked as a success that cannot be used.
  public var asUnusableSuccess: Self { changed { $0.isUnusableSuccess = true } }

  /// A copy with another outcome.
  package func with(_ outcome: Outcome) -> Self { changed { $0.outcome = outcome } }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

public struct ListedPart: Sendable, Hashable {
  public var seq: Int
  public var length: Int64
  public var etag: String
  /// The receipt of an uncertain chunk (``Interpretation/doubt``) that the listing proves to be stored.
  package var receipt: PartReceipt?
  /// Its checksum in the listing, if we can compute the algorithm.
  public var checksum: Digest?

  package init(seq: Int, length: Int64, etag: String, receipt: PartReceipt? = nil) {
    self.seq = seq
    self.length = length
    self.etag = etag
    self.receipt = receipt
  }
}

/// The reaction to a failure.
public enum FailureAction: Sendable, Hashable {
  /// Repeat the step after backoff. The engine sets `lostAnswer` if the request may have arrived.
  case retry(isThrottled: Bool)
  /// Repeat the step at once, because the facts changed (region, clock, checksum support); at most 3 times in a row.
  case repair
  /// Repeat the step at once, following the new ``TransferFacts/route``; the protocol limits how often.
  case elsewhere
  /// Missing parent: the next step will make it (WebDAV).
  case makeParents
  /// Credentials expired: reload them, once, then repeat the step.
  case refreshCredential
  /// The destination refuses, and the file may not be at fault: it is released without a failure. Set only by the
  /// engine, which knows the results of other files.
  case hold
  /// The server no longer knows the session: session row → `gone`, chunks → pending, start with a new one (verify first
  /// if a finish may have been done).
  case sessionGone
  /// Query the server first, then continue; counts as an attempt.
  case probe
  /// The file fails.
  case permanent
  /// The answer was lost, repeating may store the content twice, and the result cannot be queried: file → `unknown`.
  case unknown
}
