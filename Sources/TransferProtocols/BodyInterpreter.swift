import TransferModel

/// Interprets the answer to a request with a whole file in its body.
///
/// After a lost answer a repeatable request (PUT) is sent again; for others (POST) it is not known whether the request
/// took effect, and the file becomes `unknown`.
struct BodyInterpreter: Sendable, Hashable {
  var isRepeatable: Bool
  var ifNoneMatch = false
  /// WebDAV: 409 may mean that a parent collection is missing (RFC 4918 9.7.1). Go's server, and so rclone's, answers
  /// 404.
  var makesParents = false
  /// Whether a web page may be a success: an accepted form is answered with one; elsewhere it comes from a gateway or a
  /// login wall.
  var acceptsPage = true
  /// Whether 202 is a success, which only means that the request may be processed later (RFC 9110 section 15.3.3); nil
  /// if the user has not decided.
  var accepts202 = false
  /// The protocol says by other means that the body is stored, whatever the success is called.
  var acceptsAnyStatus = false
  /// `Repr-Digest` in the answer is the digest of the stored content.
  var readsDigest = true
  var sentDigest = DigestAlgorithm.crc32c

  func interpret(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return lost(failure, reply) }
    switch StatusClass(reply.status) {
    case .success: return unproved(reply, context) ?? vague(reply) ?? stored(reply, chunk)
    case .redirect where !isRepeatable && reply.mayFollowSuccess:
      return .failed(Failure(afterDelivery: reply, context), .unknown)
    case .redirect: return .failed(Failure(redirect: reply), .permanent)
    case .throttled where !isRepeatable && reply.mayHideSuccess(context):
      return .failed(Failure(afterDelivery: reply, context), .unknown)
    case .throttled: return .failed(answer(reply, context), .retry(isThrottled: true))
    case .retry where !isRepeatable && reply.saysNothing, .permanent where !isRepeatable && reply.saysNothing:
      return .failed(Failure(afterDelivery: reply, context), .unknown)
    case .retry: return retried(reply, context)
    case .permanent: return refused(reply, facts, context)
    }
  }

  private func lost(_ failure: Failure, _ reply: TransferReply) -> Interpretation {
    let action = FailureAction(transport: failure)
    // If no byte of the body was sent, the request had no effect: a reused connection had already been closed.
    let isUnsent = reply.status == 0 && reply.isBodyIncomplete && reply.bytesSent == 0
    guard !isRepeatable, reply.requestMayHaveArrived, !isUnsent, failure.code.category != .source else {
      return .failed(failure, action)
    }
    let text = "the answer to the POST was lost, and it may have taken effect: \(failure.message)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  private func answer(_ reply: TransferReply, _ context: RequestContext) -> Failure {
    Failure(answer: reply, wallMs: context.wallMs)
  }

  /// The failure for a successful status that does not confirm storage; nil for others. Sending the body again would
  /// give the same answer.
  private func unproved(_ reply: TransferReply, _ context: RequestContext) -> Interpretation? {
    if reply.status == 202 && !accepts202 {
      let text =
        "the server answered 202: it took the body, and may or may not store it later (--accept-202 counts that as stored)"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    if reply.answersAnother { return .inconclusive(by: reply) }
    // Servers of plain files (Apache) answer 201 with a page; 200 with a page comes from an intermediary.
    guard reply.status == 200, reply.isWebPage, !acceptsPage else { return nil }
    let text = "a web page, which does not confirm that the file is stored; --accept-html accepts it"
    return .failed(Failure(answer: reply, code: .protoBadReply, detail: text, wallMs: context.wallMs), .permanent)
  }

  /// Another success does not say what became of the body: an intermediary changed the answer (203), a form is to be
  /// cleared (205), or the status is unregistered.
  private func vague(_ reply: TransferReply) -> Interpretation? {
    guard !acceptsAnyStatus, ![200, 201, 202, 204].contains(reply.status) else { return nil }
    let text = "the server answered \(reply.status), which does not say that it stored the body"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  /// 200, 201 and 204 confirm that the object exists; 202 and others only that the body was accepted.
  private func stored(_ reply: TransferReply, _ chunk: ChunkFacts) -> Interpretation {
    let sent = chunk.digests[sentDigest]
    let reported = readsDigest ? ReprDigest.crc32c(reply.field("repr-digest")) : nil
    if let sent, let reported, sent != reported {
      let text = "the server stored \(reported), but we sent \(sent)"
      return .failed(Failure(.integrityMismatch, text), isRepeatable ? .retry(isThrottled: false) : .permanent)
    }
    let isStored = [200, 201, 204].contains(reply.status)
    let confirmation: Confirmation = isStored && sent != nil && reported != nil ? .digest : .none
    let etag = reply.field("etag") ?? ""
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: etag, digest: sent, confirmation: confirmation)
    let proof = FileProof(
      confirmation: confirmation, digest: sent, remoteDigest: reported, etag: etag, requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
    return .stored(part, proof: proof)
  }

  /// A gateway or a crashed handler may have passed a POST on; 425 means that nothing was processed.
  private func retried(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    let failure = answer(reply, context)
    guard !isRepeatable, reply.status >= 500 else { return .failed(failure, .retry(isThrottled: false)) }
    return .failed(Failure(afterDelivery: reply, context), .unknown)
  }

  private func refused(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let parentMayBeMissing = makesParents && facts.parentsMade == nil
    switch reply.status {
    case 404 where parentMayBeMissing, 409 where parentMayBeMissing:
      return .failed(answer(reply, context), .makeParents)
    case 412: return exists(facts, reply, context)
    case 511:
      return .failed(
        Failure(answer: reply, detail: "the network may require a login", wallMs: context.wallMs), .permanent)
    default: return .failed(answer(reply, context), .permanent)
    }
  }

  /// After a lost answer the existing object may be ours, and the server cannot tell.
  private func exists(_ facts: TransferFacts, _ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard ifNoneMatch else { return .failed(answer(reply, context), .permanent) }
    guard facts.lostAnswer == .part else {
      return .failed(Failure(.policyExists, "an object already exists at this URL (--if-none-match)"), .permanent)
    }
    let text = "an object exists at this URL, perhaps from our request whose answer was lost (--if-none-match)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }
}

extension TransferReply {
  /// 301, 302 and 303 may follow a successful POST: they name the page to show next (RFC 9110 section 15.4.4 for 303;
  /// by convention also 301 and 302). 307 and 308 request a repetition elsewhere, so nothing was done.
  var mayFollowSuccess: Bool { !isBodyIncomplete && [301, 302, 303].contains(status) }

  /// Whether the answer says nothing of what became of a request: a status of no class (RFC 9110 section 15), or 408
  /// to a body that went out completely, which an intermediary may send that waited for the server's answer.
  var saysNothing: Bool { !(100..<600).contains(status) || (status == 408 && !isBodyIncomplete) }

  /// A gateway may give up on a request that it delivered, and answer 503 itself. This is excluded with `Retry-After`,
  /// and if the body was not read completely; 429 is sent before anything is done (RFC 6585 section 4).
  func mayHideSuccess(_ context: RequestContext) -> Bool {
    status >= 500 && !isBodyIncomplete && RetryAfter.milliseconds(fields, wallMs: context.wallMs) == nil
  }
}

extension Failure {
  /// An answer to an unrepeatable request that an intermediary may have sent after delivery.
  init(afterDelivery reply: TransferReply, _ context: RequestContext, detail: String = "") {
    self.init(answer: reply, detail: detail, wallMs: context.wallMs)
    if (300..<400).contains(reply.status) {
      self = Failure(redirect: reply, remedy: "the server has usually accepted the body in this case")
    }
    message += "; the request may have taken effect nevertheless"
  }

  /// Bodies are not sent to the target of a redirect, because credentials would be sent too.
  init(redirect reply: TransferReply, remedy: String = "use that as the destination") {
    let origin = reply.redirectOrigin
    let place = origin.isEmpty ? "another path" : printable(origin)
    self.init(.httpRedirect, "the server answered \(reply.status) and points to \(place); \(remedy)")
  }
}
