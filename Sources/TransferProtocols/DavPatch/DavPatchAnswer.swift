import TransferModel

/// One answer with everything that its meaning depends on, and the rules that apply to the answers of all requests.
struct DavPatchAnswer {
  let reply: TransferReply
  let facts: TransferFacts
  let context: RequestContext
  let dav: DavPatchProtocol

  var failure: Failure { Failure(answer: reply, wallMs: context.wallMs) }

  func refused() -> Interpretation { .refused(reply, context) }

  func badReply(_ action: FailureAction) -> Interpretation { .badReply(reply, "", action, context) }

  func note(_ name: String) -> String? { facts.session?.notes[name] }

  /// The temporary object is gone.
  func gone() -> Interpretation {
    .failed(Failure(.protoSessionGone, "the server no longer has the temporary object (\(reply.status))"), .sessionGone)
  }

  // MARK: - What HEAD says of an object

  /// Its length; nil if it is not reported, or is the size of an encoding.
  var length: Int64? { reply.field("content-encoding") == nil ? reply.number("content-length") : nil }

  var digest: Digest? { ReprDigest.crc32c(reply.field("repr-digest")) }

  /// How the object differs from what was sent; nil if no difference is visible.
  var difference: String? {
    if let length, length != facts.file.size { return "has \(length) bytes, not \(facts.file.size)" }
    guard let sent = facts.parts.combinedDigest, let reported = digest, sent != reported else { return nil }
    return "has the digest \(reported), but we sent \(sent)"
  }

  /// The action for a temporary object that differs from what was sent: create another one. Not if it is longer than
  /// the file, because nothing was sent beyond the file's end.
  var actionIfDifferent: FailureAction { (length ?? 0) > facts.file.size ? .permanent : .sessionGone }
}
