public import TransferModel

/// A file that is done, as its destination is asked about it again.
public struct StoredObject: Sendable {
  /// Of a file whose chunks are all stored; the session is the one that was completed with it.
  public var facts: TransferFacts
  /// With which it was done.
  public var proof: FileProof

  public init(_ facts: TransferFacts, _ proof: FileProof) { (self.facts, self.proof) = (facts, proof) }
}

/// What the answer to such a question says.
public struct ObjectAnswer: Sendable {
  public var outcome: Outcome
  /// What it taught about the destination: takes the place of what was known before.
  public var learned: LearnedFacts?

  public enum Outcome: Sendable, Hashable {
    case finding(RemoteFinding)
    /// What had to go ahead of the question is done.
    case settled
    /// Nothing is known: "cannot tell" is not "absent".
    case untold(String)
    /// No usable answer; one whose remedy is final tells nothing either.
    case failed(Failure, Remedy)
  }

  public init(_ outcome: Outcome) { self.outcome = outcome }
}

/// The destination can be asked about a file long after it is done. A question changes nothing there.
public protocol LaterQuestions: Sendable {
  /// The request that asks next; nil where nobody can be asked about this file.
  func question(about object: StoredObject) -> StepRequest?

  func request(_ question: StepRequest, about object: StoredObject, _ context: RequestContext) throws(Failure)
    -> TransferRequest

  func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer
}

extension ObjectAnswer {
  static func untold(_ text: String) -> Self { Self(Outcome.untold(text)) }

  /// No answer came.
  static func lost(_ failure: Failure) -> Self { Self(Outcome.failed(failure, Remedy(transport: failure))) }

  static func absent(_ reply: TransferReply) -> Self {
    let proof = FileProof(
      confirmation: .none, requestID: reply.serverRequestID, serverDate: reply.field("date") ?? "")
    return Self(.finding(RemoteFinding(.lost, proof, detail: "the server answered \(reply.status)")))
  }

  /// What `meaning` says of a question where the protocol's own rules for it have said nothing.
  init(_ meaning: Interpretation) {
    if case .failed(let failure, let remedy) = meaning.outcome {
      self.init(Outcome.failed(failure, remedy))
    } else {
      self.init(Outcome.untold("the answer does not say whether it is there"))
    }
    learned = meaning.learned
  }

  /// The server answers, and does not let itself be asked.
  static func refused(_ reply: TransferReply) -> Self { untold("the server does not say: it answered \(reply.status)") }
}

extension StoredObject {
  /// Compares what an answer tells of the object with what was confirmed. Another size or digest is another object. An
  /// ETag that is the same shows that nobody replaced it; one that is not, shows nothing of the content: copying in
  /// place, restoring and touching make new ones.
  func compared(_ reply: TransferReply, size: Int64?, digests: [Digest], etag: String, versionID: String = "")
    -> ObjectAnswer
  {
    var found = FileProof(
      confirmation: .none, etag: etag, versionID: versionID, requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
    if let size, size != facts.file.size {
      let text = "it has \(size) bytes, and not \(facts.file.size)"
      return ObjectAnswer(.finding(RemoteFinding(.differs, found, size: size, detail: text)))
    }
    let known = [proof.digest, proof.remoteDigest].compactMap { $0 }
    for told in digests {
      guard let own = known.first(where: { $0.algorithm == told.algorithm }) else { continue }
      (found.digest, found.remoteDigest) = (own, told)
      guard own == told else {
        let text = "it has the digest \(told), and not \(own)"
        return ObjectAnswer(.finding(RemoteFinding(.differs, found, size: size, detail: text)))
      }
      found.confirmation = .digest
      return ObjectAnswer(.finding(RemoteFinding(.found, found, size: size)))
    }
    let tags = [proof.etag, etag].map(Self.strongTag)
    if let before = tags[0], let now = tags[1] {
      guard before == now else {
        return .untold("it has another ETag than when it was stored, and no digest that says what it holds")
      }
      found.confirmation = .etag
    } else if size != nil {
      found.confirmation = .size
    } else {
      return .untold("the server has it, and tells neither its size nor a digest")
    }
    return ObjectAnswer(.finding(RemoteFinding(.found, found, size: size)))
  }

  /// Without quotes, which some servers leave out in some answers; nil for a weak one or none.
  private static func strongTag(_ etag: String) -> String? {
    guard !etag.isEmpty, !etag.hasPrefix("W/") else { return nil }
    return etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.utf8.count > 1
      ? String(etag.dropFirst().dropLast()) : etag
  }
}
