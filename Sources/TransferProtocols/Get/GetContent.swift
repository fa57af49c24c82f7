public import HTTPTypes
public import TransferModel

/// Which answers bring content.
extension GetProtocol: BodiesInAnswers {
  public func content(
    status: Int, _ fields: HTTPFields, of step: StepRequest, _ facts: TransferFacts
  ) -> AnswerContent {
    guard status == 200 || status == 206 else { return .other }
    if let coding = fields[.contentEncoding], coding.lowercased() != "identity",
      !source.sendsWhatIsStored, !kind(of: facts).isStored(in: coding)
    {
      let text = "the server sent the file in the coding \(printable(coding)), unasked"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if fields[.transferEncoding] == nil, let text = fields[.contentLength], Self.length(fields) == nil {
      let failure = Failure(.protoBadReply, "the server sent \"\(printable(text))\" as the length of the file")
      return .refused(.failed(failure, .permanent))
    }
    guard case .chunk(let chunk) = step else { return beginning(status, fields, facts) }
    guard let version = RemoteVersion(facts.session) else { return .other }
    return chunk.isPart(of: facts) ? part(status, fields, chunk, version, facts) : whole(status, fields, chunk, version)
  }

  public func digestsToCompare(_ facts: TransferFacts) -> [Digest] {
    RemoteVersion(facts.session).map { ContentJudgement($0, facts).unread } ?? []
  }

  public func modificationTimeMs(_ facts: TransferFacts) -> Int64? {
    RemoteVersion(facts.session)?.modified.flatMap { HTTPDate.parse($0, wallMs: facts.wallMs) }
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

  private func kind(of facts: TransferFacts) -> NamedKind {
    NamedKind(source.fileName(ofKey: facts.file.key))
  }

  // MARK: - The first answer

  private func beginning(_ status: Int, _ fields: HTTPFields, _ facts: TransferFacts) -> AnswerContent {
    let range = ContentRange(fields[.contentRange])
    let size = status == 200 ? Self.length(fields) : range?.size
    if !source.sendsWhatIsStored, !facts.file.expected.saysContent, kind(of: facts).refusesPage(fields) {
      let text =
        "the server sent a web page (\(printable(fields[.contentType] ?? ""))), and the name is not that of one"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let wanted = facts.file.expected.size, let size, size != wanted {
      if facts.file.expected.isListed {
        let text = "the remote file changed its size from \(wanted) to \(size) bytes since it was listed"
        return .refused(.failed(Failure(.sourceChanged, text), .permanent))
      }
      let text = "the file is to have \(wanted) bytes, and the server has \(size)"
      return .refused(.failed(Failure(.integrityMismatch, text), .permanent))
    }
    if facts.isPlanned, let change = change(status, size, facts) { return .refused(change) }
    guard status == 206 else { return .bytes(from: 0, to: size) }
    guard let sent = range?.range, size != nil, sent.offset == 0, sent.end <= beginning(facts).end else {
      return .refused(withoutRanges("the server sent another range than the one that was asked for", facts.learned))
    }
    if let wrong = Self.wrongLength(fields, sent) { return .refused(withoutRanges(wrong, facts.learned)) }
    return .bytes(from: 0, to: sent.end)
  }

  /// The file was cut when another session was live: its layout is that of another version, or of ranges.
  private func change(_ status: Int, _ size: Int64?, _ facts: TransferFacts) -> Interpretation? {
    if let size, size != facts.layout.size {
      let text = "the remote file changed its size from \(facts.layout.size) to \(size) bytes"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    return status == 200 && facts.layout.count > 1 ? noRanges(facts.learned) : nil
  }

  /// Ranges of the files of this server are of no use: the same again, for the whole file.
  func withoutRanges(_ why: String, _ learned: LearnedFacts) -> Interpretation {
    let failure = Failure(.protoBadReply, why)
    guard !learned.refusesRanges else { return .failed(failure, .permanent) }
    return .failed(failure, .repair).with(learned: Self.refusingRanges(learned))
  }

  /// The same for a file that was cut: it begins anew, as another generation.
  private func noRanges(_ learned: LearnedFacts) -> Interpretation {
    let text = "the server sends no ranges of the file any more: it is fetched anew, in one body"
    return .failed(Failure(.sourceChanged, text), .permanent).with(learned: Self.refusingRanges(learned))
  }

  private static func refusingRanges(_ learned: LearnedFacts) -> LearnedFacts {
    var learned = learned
    learned.refusesRanges = true
    return learned
  }

  // MARK: - Of a known version

  private func part(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion, _ facts: TransferFacts
  ) -> AnswerContent {
    guard status == 206 else {
      // The condition failed, or the server does not know ranges after all.
      let change = version.change(in: fields, size: Self.length(fields))
      return .refused(change.map { .failed($0, .permanent) } ?? noRanges(facts.learned))
    }
    guard let content = ContentRange(fields[.contentRange]), let range = content.range else {
      let several = fields[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
      let text = several ? "the server sent several ranges" : "the server sent a range and does not say which"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let change = version.change(in: fields, size: content.size) { return .refused(.failed(change, .permanent)) }
    if let doubt = source.doubt(of: version, in: fields) { return .refused(.failed(doubt, .permanent)) }
    // One that begins earlier is legal (RFC 9110 section 15.3.7): the bytes before are compared.
    guard range.offset <= chunk.body.offset, range.end > chunk.body.offset, range.end <= chunk.body.end else {
      let sent = "the server sent the bytes from \(range.offset) to \(range.end)"
      let text = "\(sent) where \(chunk.body.offset) to \(chunk.body.end) were asked for"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let wrong = Self.wrongLength(fields, range) {
      return .refused(.failed(Failure(.protoBadReply, wrong), .permanent))
    }
    return .bytes(from: range.offset, to: range.end)
  }

  private func whole(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion
  ) -> AnswerContent {
    guard status == 200 else {
      let text = "the server sent a range where the whole file was asked for"
      return .refused(.failed(Failure(.protoBadReply, text), .permanent))
    }
    if let change = version.change(in: fields, size: Self.length(fields)) {
      return .refused(.failed(change, .permanent))
    }
    return .bytes(from: 0, to: chunk.body.end)
  }

  /// The body is not as long as its `Content-Range` says.
  private static func wrongLength(_ fields: HTTPFields, _ range: ByteRange) -> String? {
    guard let length = length(fields), length != range.length else { return nil }
    return "the server sent \(length) bytes and calls them \(range.length)"
  }

  /// Of the body; nil where it is not known, or there is a coding that overrules it (RFC 9112 section 6.3).
  static func length(_ fields: HTTPFields) -> Int64? {
    guard fields[.transferEncoding] == nil, let text = fields[.contentLength], (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }
}
