import TransferModel

/// The final answer of the program behind the upload, whatever its status: nothing can be resumed after it.
struct ResumableFinalAnswer {
  let answer: ResumableAnswer
  let chunk: ChunkFacts

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var isPost: Bool { answer.resumable.settings.isPost }
  /// The server has named the upload.
  private var isNamed: Bool { facts.session?.remoteID != nil }

  var interpretation: Interpretation {
    if reply.answersAnother { return .inconclusive(by: reply) }
    guard reply.isSuccess else { return .failed(answer.failure, .permanent) }
    // Servers of plain files (Apache) answer 201 with a page; 200 with a page comes from an intermediary.
    if answer.isPage { return answer.badReply("", isPost && !isNamed ? .unknown : .permanent) }
    if chunk.range.length == facts.file.size { return ofWholeFile() }
    if let failure = answer.mismatch { return .failed(failure, .permanent) }
    var remote = [ResumableProtocol.completeKey: "\(reply.status)"]
    remote["crc32c"] = ReprDigest.crc32c(reply.field("repr-digest"))?.description
    for (name, value) in [
      ("etag", reply.field("etag") ?? ""), ("request", reply.serverRequestID), ("date", reply.field("date") ?? ""),
    ] where !value.isEmpty { remote[name] = value }
    return .stored(answer.resumable.part(chunk, remote), proof: nil)
  }

  /// Interprets the answer to a body with the whole file. Wrongly stored content stays wrong, and querying the offset
  /// would not show it, so the file is sent again as another upload.
  private func ofWholeFile() -> Interpretation {
    var context = answer.context
    if context.fileDigests[.sha256] == nil, chunk.body.length == facts.file.size {
      context.fileDigests[.sha256] = chunk.digests[.sha256]
    }
    let compared = ResumableAnswer(reply: reply, facts: facts, context: context, resumable: answer.resumable)
    if let failure = compared.mismatch {
      return .failed(failure, isPost ? .permanent : isNamed ? .sessionGone : .retry(isThrottled: false))
    }
    var interpreter = answer.resumable.bodyInterpreter(facts)
    // The server supports uploads: whatever the status, the answer is that of the program behind it.
    if isNamed || answer.isComplete == true {
      (interpreter.acceptsPage, interpreter.accepts202, interpreter.acceptsAnyStatus) = (true, true, true)
    }
    let meaning = interpreter.interpret(reply, chunk, facts, context)
    if case .failed(let failure, .retry) = meaning.outcome, failure.code == .integrityMismatch, isNamed {
      return .failed(failure, .sessionGone)
    }
    return meaning
  }
}

extension ResumableProtocol {
  /// The receipt of a chunk: its digest is confirmed if it went with all bytes of the chunk.
  func part(_ chunk: ChunkFacts, _ remote: [String: String] = [:]) -> PartReceipt {
    PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: remote["etag"] ?? "", digest: chunk.digests[sentDigest],
      confirmation: settings.sendsDigests && chunk.acked == 0 ? .digest : .size, remote: remote)
  }

  func bodyInterpreter(_ facts: TransferFacts) -> BodyInterpreter {
    BodyInterpreter(
      isRepeatable: !settings.isPost, ifNoneMatch: settings.ifNoneMatch,
      acceptsPage: settings.answers.acceptsPage(for: settings.mediaType.type(of: facts.file.key)),
      accepts202: settings.answers.accepts202)
  }
}
