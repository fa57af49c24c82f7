import TransferModel

/// A done file, as input of a later query.
public struct StoredObject: Sendable {
  /// Facts with all chunks stored; the session is the one that was completed with the file.
  public var facts: TransferFacts
  /// The proof with which it became done.
  package var proof: FileProof

  package init(_ facts: TransferFacts, _ proof: FileProof) { (self.facts, self.proof) = (facts, proof) }
}

/// The interpreted answer to such a query.
public struct ObjectAnswer: Sendable {
  package var outcome: Outcome
  /// New facts about the destination, which replace the previous ones.
  public var learned: LearnedFacts?

  package enum Outcome: Sendable, Hashable {
    case finding(RemoteFinding)
    /// A preparatory request succeeded.
    case settled
    /// Inconclusive: "cannot tell" is not "absent".
    case inconclusive(String)
    /// No usable answer; with a final action it is inconclusive.
    case failed(Failure, FailureAction)
  }

  package init(_ outcome: Outcome) { self.outcome = outcome }
}

/// A protocol whose destination can be queried about a file long after it is done. A query changes nothing there.
package protocol LaterQuestions: Sendable {
  /// The next query; nil if the file cannot be queried.
  func question(about object: StoredObject) -> StepRequest?

  func request(_ question: StepRequest, about object: StoredObject, _ context: RequestContext) throws(Failure)
    -> TransferRequest

  func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer
}

extension ObjectAnswer {
  static func inconclusive(_ text: String) -> Self { Self(Outcome.inconclusive(text)) }

  /// No answer was received.
  static func lost(_ failure: Failure) -> Self { Self(Outcome.failed(failure, FailureAction(transport: failure))) }

  static func absent(_ reply: TransferReply) -> Self {
    let proof = FileProof(
      confirmation: .none, requestID: reply.serverRequestID, serverDate: reply.field("date") ?? "")
    return Self(.finding(RemoteFinding(.lost, proof, detail: "the server answered \(reply.status)")))
  }

  /// The query was about the upload, which servers forget after the file has its final name.
  static func forgotten(_ reply: TransferReply) -> Self {
    inconclusive("the server does not know the upload any more (\(reply.status)); the file may be there")
  }

  /// The default meaning of an answer to a query, if the protocol has no rule of its own.
  init(_ meaning: Interpretation) {
    if case .failed(let failure, let action) = meaning.outcome {
      self.init(Outcome.failed(failure, action))
    } else {
      self.init(Outcome.inconclusive("the answer does not say whether it is there"))
    }
    learned = meaning.learned
  }

  /// The server answers, but refuses the query.
  static func refused(_ reply: TransferReply) -> Self {
    inconclusive("the server does not say: it answered \(reply.status)")
  }
}

extension StoredObject {
  /// Compares the object in an answer with the confirmed one. A different size or digest means another object. An equal
  /// ETag shows that the object was not replaced; a different one proves nothing about the content, because copying in
  /// place, restoring and touching create new ones.
  func compared(_ reply: TransferReply, size: Int64?, digests: [Digest], etag: String, versionID: String = "")
    -> ObjectAnswer
  {
    var found = FileProof(
      confirmation: .none, etag: etag, versionID: versionID, requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
    if let size, size != facts.file.size {
      let text = "it has \(size) bytes, not \(facts.file.size)"
      return ObjectAnswer(.finding(RemoteFinding(.differs, found, size: size, detail: text)))
    }
    let known = [proof.digest, proof.remoteDigest].compactMap { $0 }
    for told in digests {
      guard let own = known.first(where: { $0.algorithm == told.algorithm }) else { continue }
      (found.digest, found.remoteDigest) = (own, told)
      guard own == told else {
        let text = "it has the digest \(told), not \(own)"
        return ObjectAnswer(.finding(RemoteFinding(.differs, found, size: size, detail: text)))
      }
      found.confirmation = .digest
      return ObjectAnswer(.finding(RemoteFinding(.found, found, size: size)))
    }
    let tags = [proof.etag, etag].map(Self.strongTag)
    if let before = tags[0], let now = tags[1] {
      guard before == now else {
        return .inconclusive("it has a different ETag than when it was stored, and no digest of its content")
      }
      found.confirmation = .etag
    } else if size != nil {
      found.confirmation = .size
    } else {
      return .inconclusive("the server has it, but reports neither its size nor a digest")
    }
    return ObjectAnswer(.finding(RemoteFinding(.found, found, size: size)))
  }

  /// Without quotes, which some servers omit in some answers; nil for a weak one or none.
  private static func strongTag(_ etag: String) -> String? {
    guard !etag.isEmpty, !etag.hasPrefix("W/") else { return nil }
    return etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.utf8.count > 1
      ? String(etag.dropFirst().dropLast()) : etag
  }
}
