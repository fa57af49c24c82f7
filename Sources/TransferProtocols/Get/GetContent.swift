import HTTPTypes
public import TransferModel

/// Decides which answers bring content.
extension GetProtocol: BodiesInAnswers {
  package func content(
    status: Int, _ fields: HTTPFields, of step: StepRequest, _ facts: TransferFacts
  ) -> AnswerContent {
    guard status == 200 || status == 206 else { return .other }
    switch step {
    case .create, .chunk: break
    // Answers to questions about the file contain none of it.
    default: return .other
    }
    if isCoded(fields, facts), status != 200 || !isRemovable(fields) || !removesCodings(facts, facts.learned) {
      return .refused(unaskedCoding(fields, step, facts))
    }
    if fields[.transferEncoding] == nil, let text = fields[.contentLength], Self.length(fields) == nil {
      let failure = Failure(.protoBadReply, "the server sent \"\(printable(text))\" as the length of the file")
      return .refused(.failed(failure, .permanent))
    }
    guard case .chunk(let chunk) = step else { return beginning(status, fields, facts) }
    guard let version = RemoteVersion(facts.session) else { return .other }
    if let meaning = pageInPlaceOfVersion(fields, version) { return .refused(meaning) }
    return chunk.isPart(of: facts)
      ? part(status, fields, chunk, version, facts) : whole(status, fields, chunk, version, facts)
  }

  public func digestsToCompare(_ facts: TransferFacts) -> [Digest] {
    RemoteVersion(facts.session).map { ContentComparison($0, facts).unread } ?? []
  }

  public func partedDigest(_ facts: TransferFacts) -> PartedDigest? {
    RemoteVersion(facts.session).flatMap { ContentComparison($0, facts).parted }
  }

  public func modificationTimeMs(_ facts: TransferFacts) -> Int64? {
    RemoteVersion(facts.session)?.modified.flatMap { HTTPDate.parse($0, wallMs: facts.wallMs) }
  }

  public func access(_ facts: TransferFacts) -> FileAccess {
    RemoteVersion(facts.session).map { source.wanted(of: $0.access) } ?? FileAccess()
  }

  public func givenName(_ facts: TransferFacts) -> NameBytes? {
    RemoteVersion(facts.session)?.givenName.map { NameBytes(Array($0.utf8)) }
  }

  public func begun(withLocal size: Int64, _ digest: Digest, _ facts: TransferFacts) -> Interpretation {
    let version = RemoteVersion(size: size)
    let layout = ChunkLayout(whole: size)
    var beginning = FileBeginning(layout: layout, received: 0)
    beginning.reused = PartReceipt(seq: 0, length: size, etag: "", digest: digest, confirmation: .size)
    return Interpretation(.begun(beginning))
      .with(opened: OpenedSession(remoteID: version.name, expiresAtMs: nil)).with(notes: version.notes)
  }

  func kind(of facts: TransferFacts) -> NamedKind {
    NamedKind(source.fileName(ofKey: facts.file.key))
  }

  // MARK: - The first answer

  private func beginning(_ status: Int, _ fields: HTTPFields, _ facts: TransferFacts) -> AnswerContent {
    let range = ContentRange(fields[.contentRange])
    let size = status == 200 ? length(fields, facts) : range?.size
    if let meaning = pageInPlaceOfFile(fields, facts) { return .refused(meaning) }
    if let wanted = facts.file.expected.size, let size, size != wanted {
      if facts.file.expected.isListed {
        let text = "the remote file changed its size from \(wanted) to \(size) bytes since it was listed"
        return .refused(.failed(Failure(.sourceChanged, text), .permanent))
      }
      let text = "the file must have \(wanted) bytes, but the server has \(size)"
      return .refused(.failed(Failure(.integrityMismatch, text), .permanent))
    }
    if facts.isPlanned, let change = change(status, size, facts) { return .refused(change) }
    guard status == 206 else { return size == nil ? ofUnknownLength(facts) : .bytes(from: 0, to: size) }
    guard let sent = range?.range, size != nil, sent.offset == 0, sent.end <= beginning(facts).end else {
      return .refused(withoutRanges("the server sent a different range than requested", facts.learned))
    }
    if let wrong = Self.wrongLength(fields, sent) { return .refused(withoutRanges(wrong, facts.learned)) }
    return .bytes(from: 0, to: sent.end, of: size)
  }

  /// A body that may have no end is not taken beyond the size that the file must have, if that is known.
  private func ofUnknownLength(_ facts: TransferFacts) -> AnswerContent {
    let expected = facts.file.expected
    guard let most = expected.size ?? (facts.isPlanned ? facts.layout.size : nil) else {
      return .bytes(from: 0, to: nil)
    }
    guard let size = expected.size, !expected.isListed else {
      let text = "the remote file changed: it had \(most) bytes, and now has more"
      return .bytesToEnd(most: most, .failed(Failure(.sourceChanged, text), .permanent))
    }
    let text = "the file must have \(size) bytes, but the server sends more"
    return .bytesToEnd(most: size, .failed(Failure(.integrityMismatch, text), .permanent))
  }

  /// The file was divided during another session: its layout belongs to another version, or to ranges.
  private func change(_ status: Int, _ size: Int64?, _ facts: TransferFacts) -> Interpretation? {
    if let size, size != facts.layout.size {
      let text = "the remote file changed its size from \(facts.layout.size) to \(size) bytes"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    return status == 200 && facts.layout.count > 1 ? noRanges(facts.learned) : nil
  }

  /// Ranges of the files of this server are unusable: requests the whole file instead.
  func withoutRanges(_ why: String, _ learned: LearnedFacts) -> Interpretation {
    let failure = Failure(.protoBadReply, why)
    guard !learned.refusesRanges else { return .failed(failure, .permanent) }
    return .failed(failure, .repair).with(learned: Self.refusingRanges(learned))
  }

  /// The same for a file that was divided: it starts again, as another generation.
  func noRanges(
    _ learned: LearnedFacts, _ why: String = "the server no longer sends ranges of the file"
  ) -> Interpretation {
    let failure = Failure(.sourceChanged, why + "; only a complete body can be used")
    return .failed(failure, .permanent).with(learned: Self.refusingRanges(learned))
  }

  private static func unnamed(_ version: RemoteVersion, in fields: HTTPFields) -> String {
    if version.hasNewETag(in: fields) { return "a range came with an ETag, and the first answer had none" }
    return "a range came without the \(version.etag == nil ? "Last-Modified" : "ETag") that shows its version"
  }

  private static func refusingRanges(_ learned: LearnedFacts) -> LearnedFacts {
    var learned = learned
    learned.refusesRanges = true
    return learned
  }

  // MARK: - Answers about a known version

  private func part(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion, _ facts: TransferFacts
  ) -> AnswerContent {
    guard status == 206 else {
      // The condition failed, or the server does not support ranges after all.
      let change = version.change(in: fields, size: length(fields, facts))
      return .refused(change.map { .failed($0, .permanent) } ?? noRanges(facts.learned))
    }
    guard let content = ContentRange(fields[.contentRange]), let range = content.range else {
      let several = fields[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
      let text = several ? "the server sent several ranges" : "the server sent a range without saying which"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let change = version.change(in: fields, size: content.size) { return .refused(.failed(change, .permanent)) }
    if let doubt = source.doubt(of: version, in: fields) { return .refused(.failed(doubt, .permanent)) }
    guard source.isNamed(version, in: fields) else {
      return .refused(noRanges(facts.learned, Self.unnamed(version, in: fields)))
    }
    // A range that begins earlier is legal (RFC 9110 section 15.3.7): the bytes before are compared.
    guard range.offset <= chunk.body.offset, range.end > chunk.body.offset, range.end <= chunk.body.end else {
      let sent = "the server sent the bytes from \(range.offset) to \(range.end)"
      let text = "\(sent) where \(chunk.body.offset) to \(chunk.body.end) were requested"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let wrong = Self.wrongLength(fields, range) {
      return .refused(.failed(Failure(.protoBadReply, wrong), .permanent))
    }
    return .bytes(from: range.offset, to: range.end)
  }

  private func whole(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion, _ facts: TransferFacts
  ) -> AnswerContent {
    guard status == 200 else {
      let text = "the server sent a range although the whole file was requested"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let change = version.change(in: fields, size: length(fields, facts)) {
      return .refused(.failed(change, .permanent))
    }
    return .bytes(from: 0, to: chunk.body.end)
  }

  /// The length of the body differs from that in its `Content-Range`.
  private static func wrongLength(_ fields: HTTPFields, _ range: ByteRange) -> String? {
    guard let length = length(fields), length != range.length else { return nil }
    return "the server sent \(length) bytes for a range of \(range.length)"
  }

  /// Length of the body; nil if it is unknown, or if a transfer coding overrides it (RFC 9112 section 6.3).
  static func length(_ fields: HTTPFields) -> Int64? {
    guard fields[.transferEncoding] == nil, let text = fields[.contentLength], (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }
}
