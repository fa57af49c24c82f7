import TransferModel

extension S3Protocol {
  /// Interprets the answer to a part, or to the PUT of a whole file.
  func interpretChunk(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard (200..<300).contains(reply.status) else { return refusedChunk(reply, chunk, facts, context) }
    // A query shows whether it is stored.
    guard reply.isSuccess, reply.status != 202 else {
      let meaning = badReply(reply, "it does not say that anything is stored", .probe, context)
      return doubted(chunk, reply, facts, meaning)
    }
    let etag = reply.field("etag") ?? ""
    // Every S3 server sends an ETag of what it stored; a proxy or a login page does not, whatever is sent to it. A
    // gateway that restarts may answer so once.
    guard !Self.bare(etag).isEmpty else {
      return badReply(reply, "success without an ETag", .retry(isThrottled: false), context).asUnusableSuccess
    }
    let sent = chunk.digests[sentDigest]
    let echoed = Self.checksum(reply.field(Self.checksumField))
    if let sent, let echoed, sent != echoed {
      let text = "the server stored \(echoed), but we sent \(sent)"
      return .failed(Failure(.integrityMismatch, text), .retry(isThrottled: false))
    }
    let md5 = chunk.digests[.md5]
    let confirmation: Confirmation =
      sent != nil && echoed != nil ? .digest : md5.map { Self.matches(etag, $0) } == true ? .etag : .none
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: etag, digest: sent, md5: md5, confirmation: confirmation)
    let proof = facts.layout.count > 1 ? nil : wholeProof(reply, part, echoed)
    let meaning = Interpretation.stored(part, proof: proof)
    return learned(fromEcho: echoed != nil, .chunk(chunk), facts, context).map { meaning.with(learned: $0) } ?? meaning
  }

  private func wholeProof(_ reply: TransferReply, _ part: PartReceipt, _ echoed: Digest?) -> FileProof {
    FileProof(
      confirmation: part.confirmation, digest: part.digest, remoteDigest: echoed, etag: part.etag,
      versionID: reply.field("x-amz-version-id") ?? "", requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
  }

  /// Whether the server verifies our checksum, from the first answer that shows it. A server that stops echoing it
  /// counts as ignoring it: some servers echo it for whole objects and not for parts.
  private func learned(
    fromEcho isEchoed: Bool, _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> LearnedFacts? {
    guard let support = checksumSupport(step, facts) else { return nil }
    var learned = context.learned
    switch learned[keyPath: support] {
    case .untried: learned[keyPath: support] = isEchoed ? .confirmed : .ignored
    case .confirmed where !isEchoed: learned[keyPath: support] = .ignored
    case .confirmed, .ignored, .refused: return nil
    }
    return learned
  }

  private func refusedChunk(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let error = S3Error(reply)
    let isWhole = facts.layout.count == 1
    if isWhole && error.meaning(status: reply.status) == .exists { return exists(reply, facts) }
    if !isWhole && reply.status == 404 && error.code.isEmpty {
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    }
    let meaning = failed(reply, error, .chunk(chunk), facts, context)
    // A gateway may have forwarded the part before it failed.
    guard reply.status >= 500, case .failed(let failure, .retry(isThrottled: false)) = meaning.outcome else {
      return meaning
    }
    return doubted(chunk, reply, facts, meaning, asked: .failed(failure, .probe))
  }

  /// A completely sent part may be stored although no answer confirmed it: its digests identify it in the list of
  /// parts, which is queried before the part is sent again. A partly sent part cannot have been stored.
  func doubted(
    _ chunk: ChunkFacts, _ reply: TransferReply, _ facts: TransferFacts, _ meaning: Interpretation,
    asked: Interpretation? = nil
  ) -> Interpretation {
    var remote: [String: String] = [:]
    for algorithm in [DigestAlgorithm.crc64nvme, .md5] {
      remote[algorithm.rawValue] = chunk.digests[algorithm]?.description
    }
    guard facts.layout.count > 1, reply.bytesSent >= chunk.body.length, !remote.isEmpty else { return meaning }
    return (asked ?? meaning).with(doubt: remote)
  }

  /// An object exists. It may be ours, because an answer may have been lost, or an intermediary may have repeated a
  /// request. So it is queried once before it counts as somebody else's. If queries are not allowed and an answer was
  /// lost, the outcome is unknown.
  func exists(_ reply: TransferReply, _ facts: TransferFacts) -> Interpretation {
    if facts.inconclusive.contains(.verify), facts.lostAnswer != nil {
      let text = "there is an object with this key, perhaps from our request whose answer was lost (--if-none-match)"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    let failure = Failure(.policyExists, "there is already an object with this key (--if-none-match)")
    return .failed(failure, facts.isAbsent ? .permanent : .probe)
  }

  // MARK: - ETags and checksums

  /// Without quotes and the prefix of a weak validator.
  static func bare(_ etag: String) -> String {
    String((etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]).filter { $0 != "\"" })
  }

  static func matches(_ etag: String, _ md5: Digest) -> Bool { bare(etag).lowercased() == hexText(md5.bytes) }

  /// The CRC64NVME in a field or element; nil for anything else, for example the composite of another algorithm.
  static func checksum(_ text: String?) -> Digest? {
    guard let bytes = text.flatMap(bytesFromBase64), bytes.count == DigestAlgorithm.crc64nvme.byteCount else {
      return nil
    }
    return Digest(.crc64nvme, bytes)
  }
}
