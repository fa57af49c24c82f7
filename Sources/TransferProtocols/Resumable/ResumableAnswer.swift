import TransferModel

/// One answer with everything that its meaning depends on, and the rules that apply to the answers of all requests.
struct ResumableAnswer {
  let reply: TransferReply
  let facts: TransferFacts
  let context: RequestContext
  let resumable: ResumableProtocol

  private var settings: ResumableSettings { resumable.settings }

  /// Whether the answer says that it ends the upload; nil if it does not say.
  var isComplete: Bool? { resumable.interop(facts).isComplete(reply) }

  /// Whether the answer is a web page from something that does not support resumable uploads.
  var isPage: Bool {
    let accepts = settings.answers.acceptsPage(for: settings.mediaType.type(of: facts.file.key))
    return reply.isWebPage && reply.status == 200 && isComplete == nil && !accepts
  }

  /// The server reports an SHA-256 of the whole file that differs from ours.
  var mismatch: Failure? {
    guard let sent = context.fileDigests[.sha256],
      let reported = ReprDigest.value(.sha256, "sha-256", reply.field("repr-digest")), sent != reported
    else { return nil }
    return Failure(.integrityMismatch, "the server stored \(reported), but we sent \(sent)")
  }

  // MARK: - Limits

  /// Adds notes about the limits in the answer to its meaning.
  func noted(_ meaning: Interpretation) -> Interpretation {
    guard let limit = UploadLimit(reply.field("upload-limit")) else { return meaning }
    var notes: [String: String] = [:]
    if let most = limit.maxAppend, most != resumable.discovery(facts.learned).limits.maxAppend {
      notes[ResumableProtocol.appendNote] = "\(most)"
    }
    if let expiresAtMs { notes[ResumableProtocol.expiryNote] = "\(expiresAtMs)" }
    return notes.isEmpty ? meaning : meaning.with(notes: notes)
  }

  /// Milliseconds since 1970 UTC, by our clock; the server counts from its answer.
  var expiresAtMs: Int64? {
    guard let seconds = UploadLimit(reply.field("upload-limit"))?.maxAge else { return nil }
    return context.wallMs + min(seconds, 1 << 32) * 1_000
  }

  // MARK: - Refusals

  var failure: Failure { Failure(answer: reply, detail: ProblemDetails.text(reply), wallMs: context.wallMs) }

  func refused() -> Interpretation { .refused(reply, detail: ProblemDetails.text(reply), context) }

  func badReply(_ what: String, _ action: FailureAction) -> Interpretation {
    .badReply(reply, what, action, context)
  }

  /// A server may forget an upload as soon as it is complete. Creating the object again is harmless with PUT, but not
  /// with POST.
  func gone(mayBeDone: Bool) -> Interpretation {
    guard settings.isPost && mayBeDone else {
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    }
    let text = "the server does not know the upload any more, which may be complete"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }
}
