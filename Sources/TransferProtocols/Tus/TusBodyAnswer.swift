import TransferModel

/// The answer to PATCH with a body of the upload, or of the chunk's own upload.
struct TusBodyAnswer {
  let answer: TusAnswer
  let chunk: ChunkFacts

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var tus: TusProtocol { answer.tus }

  var interpretation: Interpretation {
    guard reply.isSuccess else { return refused() }
    guard let offset = reply.number("upload-offset") else {
      return answer.badReply("no numeric Upload-Offset", .probe)
    }
    let isPartial = tus.isConcatenated(facts)
    let end = isPartial ? chunk.range.length : facts.file.size
    guard offset <= end else { return .failed(OffsetFailure.pastEnd(offset, end), .permanent) }
    let meaning = progress(to: isPartial ? offset : offset - chunk.range.offset, isChecked: isChecked)
    guard !isPartial, let expiry = answer.expiresAtMs else { return meaning }
    return meaning.with(notes: [TusProtocol.expiryNote: "\(expiry)"])
  }

  /// Whether a checksum went with all bytes of the chunk.
  private var isChecked: Bool {
    let checksum = tus.checksum(answer.context.learned)
    return chunk.acked == 0 && checksum.map { chunk.digests[$0.algorithm] != nil } == true
  }

  /// The server has `acked` bytes of the chunk after it accepted a body.
  func progress(to acked: Int64, isChecked: Bool) -> Interpretation {
    let sent = chunk.body.end - chunk.range.offset
    guard acked > chunk.acked else { return .failed(OffsetFailure.stoodStill(acked), .probe) }
    guard acked <= sent else {
      let text = "the server reports \(acked) bytes of the chunk after \(sent) were sent"
      return .failed(Failure(.protoOffset, text), .probe)
    }
    guard acked == chunk.range.length else { return .advanced(acked: acked) }
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: chunk.digests[tus.sentDigest],
      confirmation: isChecked ? .digest : .size, remote: chunk.remote)
    return .stored(part, proof: nil)
  }

  // MARK: - Refusals

  private func refused() -> Interpretation {
    let failure = answer.failure
    switch reply.status {
    // Another client, or an earlier request of ours, moved the offset. If the server does not report its offset, the
    // upload cannot be continued.
    case 409 where facts.inconclusive.contains(.probe), 403 where facts.inconclusive.contains(.probe):
      return .failed(
        Failure(.protoSessionGone, "the server does not say how much of the upload it has, and refuses to continue"),
        .sessionGone)
    case 409: return .failed(failure, .probe)
    case _ where reply.answersAnother: return answer.badReply("", .probe)
    case 404, 410:
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    case 405 where !tus.settings.overridesMethod:
      return .failed(
        Failure(failure.code, failure.message + "; it may take POST instead of PATCH: --method-override"), .permanent)
    case 412: return .failed(answer.versionFailure, .permanent)
    case 413: return tooLong()
    case 400: return refusedAsWrong()
    default: return answer.refused()
    }
  }

  /// An intermediate proxy may limit bodies: shorter ones are tried, down to 1 MiB.
  private func tooLong() -> Interpretation {
    let isFinal = TusError.isSize(TusError.code(reply))
    guard !isFinal, chunk.body.length > TusSettings.mebibyte else { return .failed(answer.failure, .permanent) }
    let shorter = max(TusSettings.mebibyte, min(chunk.body.length / 2, TusSettings.defaultPart))
    return .failed(answer.failure, .probe).with(notes: [TusProtocol.bodyNote: "\(shorter)"])
  }

  /// 400 has many meanings in tusd; from other servers it may mean an unsupported algorithm: bodies are then sent
  /// without checksums.
  private func refusedAsWrong() -> Interpretation {
    if TusError.passes(reply) { return .failed(answer.failure, .probe) }
    // Decided by the content of this request: another one may have shown meanwhile that checksums do not work.
    guard TusError.code(reply).isEmpty, TusFeatures.known.contains(where: { chunk.digests[$0.algorithm] != nil })
    else { return .failed(answer.failure, .permanent) }
    return .failed(answer.failure, .repair).with(learned: answer.context.learned.without("checksum"))
  }
}
