public import TransferModel

/// What S3 calls a composite checksum: the digest of the digests of the parts of a file.
public struct PartedDigest: Sendable, Hashable {
  /// Of all parts but the last, which is not longer, in bytes.
  public var partLength: Int64
  public var digest: Digest

  public init(partLength: Int64, _ digest: Digest) { (self.partLength, self.digest) = (partLength, digest) }
}

/// A page of the list of the parts of an object.
struct PartList: Sendable, Hashable {
  var etag: String
  /// In order.
  var parts: [Part]

  struct Part: Sendable, Hashable {
    /// From 1.
    var number: Int
    /// In bytes.
    var length: Int64
  }
}

/// A composite checksum in the notes of a session, and for how many parts their lengths are known: it proves the
/// content only if the lengths of all parts are.
struct CompositeNotes: Sendable, Hashable {
  private static let key = "composite"
  /// The marker of the question for a page of the list of parts.
  static let marker = "checksums"
  /// The checksum cannot be used.
  static let unused = [key: "unused"]

  let digest: Digest
  let count: Int
  /// Of the first parts.
  private(set) var known = 0
  private(set) var partLength: Int64 = 0

  init(_ digest: Digest, count: Int) { (self.digest, self.count) = (digest, count) }

  /// nil before a checksum was told, and if it cannot be used.
  init?(_ session: SessionFacts?) {
    let words = (session?.notes[Self.key] ?? "").split(separator: " ")
    guard words.count == 4, let digest = Digest(text: String(words[0])), let count = Int(words[1]),
      let known = Int(words[2]), let length = Int64(words[3])
    else { return nil }
    (self.digest, self.count, self.known, partLength) = (digest, count, known, length)
  }

  static func areKnown(_ session: SessionFacts?) -> Bool { session?.notes[key] != nil }

  var notes: [String: String] { [Self.key: "\(digest) \(count) \(known) \(partLength)"] }

  var isComplete: Bool { known == count }
  var parted: PartedDigest? { isComplete ? PartedDigest(partLength: partLength, digest) : nil }

  /// With the next page of the list; nil if it does not continue the previous one, or the parts differ in length.
  func adding(_ page: PartList, of size: Int64) -> CompositeNotes? {
    var sum = self
    for part in page.parts {
      guard part.number == sum.known + 1, part.number <= count, part.length > 0, part.length <= size else { return nil }
      if sum.known == 0 { sum.partLength = part.length }
      let before = Int64(sum.known).multipliedReportingOverflow(by: sum.partLength)
      let isLast = part.number == count
      guard !before.overflow, before.partialValue <= size, part.length <= sum.partLength,
        isLast ? part.length == size - before.partialValue : part.length == sum.partLength
      else { return nil }
      sum.known += 1
    }
    return sum.known > known ? sum : nil
  }
}

/// Composite checksums: if the object has no checksum of the whole, and its parts are all known, the complete file is
/// compared with the checksum of their checksums. A file can do without it: then its length proves that it is whole.
extension GetProtocol {
  /// Whether the next page of the list is to be requested, of a completely stored file: not if other digests say what
  /// the content must be.
  func asksForChecksums(_ facts: TransferFacts) -> Bool {
    let expected = facts.file.expected
    guard let notes = CompositeNotes(facts.session), !notes.isComplete, !facts.learned.refusesPartLists,
      expected.digests.isEmpty, expected.pieces == nil, BlockNotes.digest(facts.session) == nil
    else { return false }
    return RemoteVersion(facts.session)?.digests.isEmpty ?? false
  }

  /// Interprets a description of the version without content: its digests are stored, whatever else the answer
  /// contains, because the ranges already belong to one version.
  func described(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.status == 200, var version = RemoteVersion(facts.session) else {
      guard let meaning = source.meaning(of: reply, facts, context), case .failed(_, let action) = meaning.outcome,
        action != .permanent
      else { return .inconclusive }
      return meaning
    }
    let told = self.version(size: version.size, reply.fields, isWhole: true, context)
    guard told.etag == version.etag else { return .inconclusive }
    version.digests = told.digests
    let meaning = Interpretation.inconclusive.with(notes: version.notes)
    guard version.lacksDigest, let count = source.partCount(of: version),
      let composite = source.composite(of: version, in: reply)
    else { return meaning }
    return meaning.with(notes: CompositeNotes(composite, count: count).notes)
  }

  /// Consecutive failures of the file after which it does without the list.
  private static let mostFailures = 4

  /// Only if the server refuses the request is the file fetched without the list. A temporary failure of the host or of
  /// the credential is retried, because it would otherwise silently weaken the proof of the content.
  func listed(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let unused = Interpretation.settled.with(notes: CompositeNotes.unused)
    let isPatient = context.failures < Self.mostFailures
    if let failure = reply.transportFailure ?? reply.answerFailure {
      let action = FailureAction(transport: failure)
      guard !reply.isCancelled, reply.requestMayHaveArrived, action == .permanent || !isPatient else {
        return .failed(failure, action)
      }
      return unused.with(tolerated: .failure(failure))
    }
    if let meaning = source.meaning(of: reply, facts, context), case .failed(let failure, let action) = meaning.outcome
    {
      switch action {
      case .repair, .refreshCredential: return meaning
      case .retry(let isThrottled):
        return isPatient ? meaning : unused.with(tolerated: .failure(failure, isThrottled: isThrottled))
      default: break
      }
    }
    if let page = source.partList(reply), let notes = CompositeNotes(facts.session),
      page.etag == RemoteVersion(facts.session)?.etag
    {
      let next = notes.adding(page, of: facts.layout.size)
      return Interpretation.settled.with(notes: next?.notes ?? CompositeNotes.unused).with(tolerated: .answer)
    }
    // 404 and 412 are about this object.
    guard reply.status != 404, reply.status != 412 else { return unused.with(tolerated: .answer) }
    var learned = context.learned
    learned.refusesPartLists = true
    return unused.with(tolerated: .answer).with(learned: learned)
  }
}
