import TransferModel

/// The answer to a part, or to the PUT of a whole file.
struct S3ChunkAnswer {
  let answer: S3Answer
  let chunk: ChunkFacts

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    guard (200..<300).contains(reply.status) else { return refused() }
    // A query shows whether it is stored.
    guard reply.isSuccess, reply.status != 202 else {
      let meaning = answer.badReply("it does not say that anything is stored", .probe)
      return doubted(meaning)
    }
    let etag = reply.field("etag") ?? ""
    // Every S3 server sends an ETag of what it stored; a proxy or a login page does not, whatever is sent to it. A
    // gateway that restarts may answer so once.
    guard !S3Tag.bare(etag).isEmpty else {
      return answer.badReply("success without an ETag", .retry(isThrottled: false)).asUnusableSuccess
    }
    let sent = chunk.digests[.crc64nvme]
    let echoed = S3Tag.checksum(reply.field(S3Protocol.checksumField))
    if let sent, let echoed, sent != echoed {
      let text = "the server stored \(echoed), but we sent \(sent)"
      return .failed(Failure(.integrityMismatch, text), .retry(isThrottled: false))
    }
    let md5 = chunk.digests[.md5]
    let confirmation: Confirmation =
      sent != nil && echoed != nil ? .digest : md5.map { S3Tag.matches(etag, $0) } == true ? .etag : .none
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: etag, digest: sent, md5: md5, confirmation: confirmation)
    let proof = facts.layout.count > 1 ? nil : wholeProof(part, echoed)
    let meaning = Interpretation.stored(part, proof: proof)
    return learned(fromEcho: echoed != nil).map { meaning.with(learned: $0) } ?? meaning
  }

  private func wholeProof(_ part: PartReceipt, _ echoed: Digest?) -> FileProof {
    FileProof(
      confirmation: part.confirmation, digest: part.digest, remoteDigest: echoed, etag: part.etag,
      versionID: reply.field("x-amz-version-id") ?? "", requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
  }

  /// Whether the server verifies our checksum, from the first answer that shows it. A server that stops echoing it
  /// counts as ignoring it: some servers echo it for whole objects and not for parts.
  private func learned(fromEcho isEchoed: Bool) -> LearnedFacts? {
    guard let support = answer.checksumSupport(.chunk(chunk)) else { return nil }
    var learned = answer.context.learned
    switch learned[keyPath: support] {
    case .untried: learned[keyPath: support] = isEchoed ? .confirmed : .ignored
    case .confirmed where !isEchoed: learned[keyPath: support] = .ignored
    case .confirmed, .ignored, .refused: return nil
    }
    return learned
  }

  private func refused() -> Interpretation {
    let error = S3Error(reply)
    let isWhole = facts.layout.count == 1
    if isWhole && error.meaning(status: reply.status) == .exists { return answer.exists() }
    if !isWhole && reply.status == 404 && error.code.isEmpty {
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    }
    let meaning = answer.failed(error, .chunk(chunk))
    // A gateway may have forwarded the part before it failed.
    guard reply.status >= 500, case .failed(let failure, .retry(isThrottled: false)) = meaning.outcome else {
      return meaning
    }
    return doubted(meaning, asked: .failed(failure, .probe))
  }

  /// A completely sent part may be stored although no answer confirmed it: its digests identify it in the list of
  /// parts, which is queried before the part is sent again. A partly sent part cannot have been stored.
  func doubted(_ meaning: Interpretation, asked: Interpretation? = nil) -> Interpretation {
    var remote: [String: String] = [:]
    for algorithm in [DigestAlgorithm.crc64nvme, .md5] {
      remote[algorithm.rawValue] = chunk.digests[algorithm]?.description
    }
    guard facts.layout.count > 1, reply.bytesSent >= chunk.body.length, !remote.isEmpty else { return meaning }
    return (asked ?? meaning).with(doubt: remote)
  }
}
