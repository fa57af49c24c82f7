public import TransferModel

/// What an answer means. ``TransferFacts/apply(_:to:_:)`` says how it changes what is known of a file; the engine
/// closes the attempt, changes the rows in one transaction, and applies the interpretation to the facts.
public struct Interpretation: Sendable {
  /// What became of the request.
  public var outcome: Outcome
  /// What the answer taught about the destination: takes the place of what was known before.
  public var learned: LearnedFacts?
  /// To be remembered with the live session, in the same transaction; an empty value forgets the name. Also beside a
  /// failure, while there is a session.
  public var notes: [String: String] = [:]
  /// The whole body of a chunk went out, and its answer is lost or says nothing: what is remembered with the chunk
  /// shows in a listing whether it is there.
  public var doubt: [String: String]?
  /// The request opened a session, whatever became of its body.
  public var opened: OpenedSession?
  /// The file is asked for elsewhere from now on: takes the place of what was known before.
  public var route: Route?
  /// Of a file with mirrors: the one that answered, 0 is the URL of the file.
  public var mirror = 0
  /// The bytes that came show that who sent them has others than the file.
  public var provesWrong = false
  /// To be remembered with the chunk while it is not stored: takes the place of what was. Beside a failure.
  public var chunkNotes: [String: String]?

  public enum Outcome: Sendable {
    /// `create`, `abort`, `makeParent`, `discover`, `finish` or `save` did its work (404 counts for `abort`).
    case settled
    /// A page of what the server stored. Chunks that are known as stored and missing in the complete list are pending
    /// again. With `next == nil` the probe is complete.
    case partsListed([ListedPart], next: String?)
    /// A page of sessions at the server that can only be lost creates of ours. Complete with `next == nil`.
    case orphansListed([String], next: String?)
    /// The chunk is stored. `proof` is present when that was the whole upload (protocols without a finish step).
    case stored(PartReceipt, proof: FileProof?)
    /// Part of the chunk is stored: the server holds `acked` bytes from its start, more than before and not all. The
    /// chunk is pending again, with no failure.
    case advanced(acked: Int64)
    /// `prepareChunk` got what the chunk needs; its body is next.
    case chunkPrepared([String: String])
    /// `probeChunk`: the server holds `acked` bytes from its start, which may be none. All of it is
    /// ``stored(_:proof:)``.
    case chunkProbed(acked: Int64)
    /// `probe` or `create`: the server holds the first `offset` bytes of the file. Chunks below are stored, chunks
    /// above are not, whatever was known before; the one between has its part.
    case offset(Int64)
    /// `create` of a download: which version of the file there is was said, and its first bytes came.
    case begun(FileBeginning)
    /// `probe` of a folder: a page of what the server has below it.
    case listed(ListedPage)
    /// The finish step, or a `verify` after a lost answer, showed that the object is there.
    case finished(FileProof)
    /// `verify`: nothing of ours is there.
    case absent
    /// `verify` or `probe`: the server does not say (no permission, a method that it does not know), which is not
    /// "absent".
    case untold
    /// The server is at it: the same step again after so many milliseconds, with no failure. The file leaves the engine
    /// meanwhile.
    case notYet(afterMs: Int64)
    case failed(Failure, Remedy)
  }

  public init(_ outcome: Outcome) { self.outcome = outcome }
}

/// What the answer to the first request for a file brought.
public struct FileBeginning: Sendable, Hashable {
  /// How the file is cut, unless it was before.
  public var layout: ChunkLayout
  /// Bytes from the start of the file that are stored, of the first chunk.
  public var received: Int64
  /// Of the first chunk, when all of it is stored.
  public var part: PartReceipt?
  /// Of the only chunk, when a local file had all of it.
  public var reused: PartReceipt?

  public init(layout: ChunkLayout, received: Int64, part: PartReceipt? = nil) {
    (self.layout, self.received, self.part) = (layout, received, part)
  }
}

/// A session as the server named it.
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
  public static let untold = Self(.untold)

  public static func opened(_ session: OpenedSession) -> Self { settled.with(opened: session) }
  public static func partsListed(_ parts: [ListedPart], next: String?) -> Self { Self(.partsListed(parts, next: next)) }
  public static func orphansListed(_ ids: [String], next: String?) -> Self { Self(.orphansListed(ids, next: next)) }
  public static func stored(_ part: PartReceipt, proof: FileProof?) -> Self { Self(.stored(part, proof: proof)) }
  public static func advanced(acked: Int64) -> Self { Self(.advanced(acked: acked)) }
  public static func chunkPrepared(_ remote: [String: String]) -> Self { Self(.chunkPrepared(remote)) }
  public static func chunkProbed(acked: Int64) -> Self { Self(.chunkProbed(acked: acked)) }
  public static func offset(_ offset: Int64) -> Self { Self(.offset(offset)) }
  public static func finished(_ proof: FileProof) -> Self { Self(.finished(proof)) }
  public static func notYet(afterMs: Int64) -> Self { Self(.notYet(afterMs: afterMs)) }
  public static func failed(_ failure: Failure, _ remedy: Remedy) -> Self { Self(.failed(failure, remedy)) }

  /// The same, and the destination is as `learned` says.
  public func with(learned: LearnedFacts) -> Self { changed { $0.learned = learned } }

  /// The same with more to be remembered; of a name that is there already the new value counts.
  public func with(notes: [String: String]) -> Self { changed { $0.notes.merge(notes) { _, new in new } } }

  public func with(doubt: [String: String]) -> Self { changed { $0.doubt = doubt } }

  public func with(opened: OpenedSession) -> Self { changed { $0.opened = opened } }

  public func with(route: Route) -> Self { changed { $0.route = route } }

  /// The same, and something else became of the request.
  public func with(_ outcome: Outcome) -> Self { changed { $0.outcome = outcome } }

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
  /// The chunk was in doubt (``Interpretation/doubt``), and the listing proves that it is there.
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
  /// The same step again at once, because the facts changed (region, clock, checksum support); at most 3 times in a
  /// row.
  case repair
  /// The same step again at once, where ``TransferFacts/route`` leads now; the protocol says how often.
  case elsewhere
  /// Missing parent: the next step will make it (WebDAV).
  case makeParents
  /// Credentials expired: read them again, once, then the same step.
  case refreshCredential
  /// The destination refuses, and the file may not be at fault: it leaves the engine with no failure. Only the engine
  /// says so, which knows what became of other files.
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
