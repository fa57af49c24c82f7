import TransferModel

/// What an answer means to a request that brought a whole file in its body.
///
/// After a lost answer the request is sent again when that is harmless (PUT); else (POST) nobody can say whether it
/// took effect, and the file is `unknown`.
struct BodyInterpreter: Sendable, Hashable {
  var isRepeatable: Bool
  var ifNoneMatch = false
  /// WebDAV: 409 may say that a collection on the way is missing (RFC 4918 9.7.1). Go's server, and so rclone's, says
  /// 404.
  var makesParents = false
  /// A page for people is what a form that was taken answers with; to others it comes from a gateway or a login wall.
  var acceptsPage = true
  /// 202 only says that something may happen later (RFC 9110 section 15.3.3); nil where nobody said that this is
  /// enough.
  var accepts202 = false
  /// `Repr-Digest` in the answer is of what was stored.
  var readsDigest = true
  var sentDigest = DigestAlgorithm.crc32c

  func interpret(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return lost(failure, reply) }
    switch StatusClass(reply.status) {
    case .success: return unproved(reply, context) ?? stored(reply, chunk)
    case .redirect where !isRepeatable && reply.mayFollowSuccess:
      return .failed(Failure(afterDelivery: reply, context), .unknown)
    case .redirect: return .failed(Failure(redirect: reply), .permanent)
    case .throttled where !isRepeatable && reply.mayHideSuccess(context):
      return .failed(Failure(afterDelivery: reply, context), .unknown)
    case .throttled: return .failed(answer(reply, context), .retry(isThrottled: true))
    case .retry: return retried(reply, context)
    case .permanent: return refused(reply, facts, context)
    }
  }

  private func lost(_ failure: Failure, _ reply: TransferReply) -> Interpretation {
    let remedy = Remedy(transport: failure)
    // Without a byte of the body nothing can have come of the rest: a kept connection that ended as it was used again.
    let isUnsent = reply.status == 0 && reply.isBodyIncomplete && reply.bytesSent == 0
    guard !isRepeatable, reply.requestMayHaveArrived, !isUnsent, failure.code.blame != .source else {
      return .failed(failure, remedy)
    }
    let text = "the answer to the POST was lost, and it may have taken effect: \(failure.message)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  private func answer(_ reply: TransferReply, _ context: RequestContext) -> Failure {
    Failure(answer: reply, wallMs: context.wallMs)
  }

  /// A success that does not say that anything is stored; nil for the others. Sending the body again would bring the
  /// same answer.
  private func unproved(_ reply: TransferReply, _ context: RequestContext) -> Interpretation? {
    if reply.status == 202 && !accepts202 {
      let text =
        "the server answered 202: it took the body, and may or may not store it later (--accept-202 counts that as stored)"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    // 201 with a page is what servers say that store plain files (Apache); 200 comes from something in between.
    guard reply.status == 200, reply.isWebPage, !acceptsPage else { return nil }
    let text = "a web page, which does not say that anything is stored (--accept-html counts it as stored)"
    return .failed(Failure(answer: reply, code: .protoBadReply, detail: text, wallMs: context.wallMs), .permanent)
  }

  /// 200, 201 and 204 say that the object is there; 202 and the others only that the body was taken.
  private func stored(_ reply: TransferReply, _ chunk: ChunkFacts) -> Interpretation {
    let sent = chunk.digests[sentDigest]
    let reported = readsDigest ? ReprDigest.crc32c(reply.field("repr-digest")) : nil
    if let sent, let reported, sent != reported {
      let text = "the server stored \(reported), and we sent \(sent)"
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

  /// A gateway or a crashed handler may have passed a POST on; 408 and 425 say that nothing was processed.
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
      return .failed(Failure(answer: reply, detail: "the network asks for a login", wallMs: context.wallMs), .permanent)
    default: return .failed(answer(reply, context), .permanent)
    }
  }

  /// After a lost answer the object that is there may be ours, and the server cannot tell.
  private func exists(_ facts: TransferFacts, _ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard ifNoneMatch else { return .failed(answer(reply, context), .permanent) }
    guard facts.lostAnswer == .part else {
      return .failed(Failure(.policyExists, "there is already something at this URL (--if-none-match)"), .permanent)
    }
    let text = "there is something at this URL, perhaps from our request whose answer was lost (--if-none-match)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }
}

extension TransferReply {
  /// 301, 302 and 303 are what follows a POST that was carried out: the page to look at next (RFC 9110 section 15.4.4,
  /// and the two before it by long custom). 307 and 308 ask for the same request elsewhere, so nothing was done.
  var mayFollowSuccess: Bool { !isBodyIncomplete && [301, 302, 303].contains(status) }

  /// A gateway gives up on a request that it delivered and answers 503 by itself. Not so when it says when to come
  /// back, or had not taken the whole body; 429 is said before anything is done (RFC 6585 section 4).
  func mayHideSuccess(_ context: RequestContext) -> Bool {
    status >= 500 && !isBodyIncomplete && RetryAfter.milliseconds(fields, wallMs: context.wallMs) == nil
  }
}

extension Failure {
  /// An answer to a request that must not be repeated, which something in between may have given after delivery.
  init(afterDelivery reply: TransferReply, _ context: RequestContext, detail: String = "") {
    self.init(answer: reply, detail: detail, wallMs: context.wallMs)
    if (300..<400).contains(reply.status) {
      self = Failure(redirect: reply, remedy: "mostly it has taken the body then")
    }
    message += "; the request may have taken effect all the same"
  }

  /// Bodies are not sent to where an answer points: credentials would go along.
  init(redirect reply: TransferReply, remedy: String = "use that as the destination") {
    let origin = reply.redirectOrigin
    let place = origin.isEmpty ? "another path" : printable(origin)
    self.init(.httpRedirect, "the server answered \(reply.status) and points to \(place); \(remedy)")
  }
}
