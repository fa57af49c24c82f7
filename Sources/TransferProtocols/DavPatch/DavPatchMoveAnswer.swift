import TransferModel

/// The answers to MOVE, and to HEAD before and after it.
struct DavPatchMoveAnswer {
  let answer: DavPatchAnswer

  private typealias Note = DavPatchProtocol.Note
  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  /// HEAD of the temporary object, or of the object once it was moved.
  var verification: Interpretation {
    answer.note(Note.moved).map { after(isTold: $0 == Note.told) } ?? before()
  }

  /// Interprets HEAD of the temporary object before each MOVE. `absent` means that the object does not have its final
  /// name yet.
  private func before() -> Interpretation {
    let isAsked = facts.lostAnswer == .finish || answer.note(Note.asked) != nil
    switch reply.status {
    case _ where reply.isSuccess:
      if let difference = answer.difference {
        return .failed(Failure(.protoOffset, "the temporary object \(difference)"), answer.actionIfDifferent)
      }
      // The doubt was about an earlier MOVE, which is now known to have had no effect.
      return .absent.with(notes: [Note.etag: reply.field("etag") ?? "", Note.doubted: ""])
    case 404 where isAsked, 410 where isAsked: return .settled.with(notes: [Note.moved: Note.missing])
    case 404, 410: return answer.gone()
    case 400, 403, 405, 501:
      let text = "the answer to MOVE was lost, and the server does not say whether the temporary object still exists"
      return isAsked ? inDoubt(Failure(.protoLostAnswer, text)) : .inconclusive
    default: return answer.refused()
    }
  }

  /// An error may come from a gateway that forwarded the request.
  var move: Interpretation {
    switch reply.status {
    case 201, 204: return .settled.with(notes: [Note.moved: Note.told])
    case 412 where answer.dav.ifNoneMatch:
      return .failed(Failure(.policyExists, "an object already exists at this URL (--if-none-match)"), .permanent)
    // An earlier MOVE may have moved it meanwhile.
    case 404, 410, 412: return answer.gone().with(notes: [Note.asked: "1"])
    default: return answer.refused().with(notes: [Note.asked: "1"])
    }
  }

  /// Interprets HEAD of the object. If the server did not confirm the MOVE, an object that differs from what was sent
  /// is an older one; one of the same length may also be older, unless a digest or the ETag shows that it is ours.
  private func after(isTold: Bool) -> Interpretation {
    switch reply.status {
    case _ where reply.isSuccess:
      guard let difference = answer.difference ?? (isTold ? nil : otherTag) else {
        return isTold || isRecognised ? .finished(proof) : inDoubt(Self.doubtful)
      }
      let text = "the object \(difference)"
      return isTold
        ? .failed(Failure(.integrityMismatch, text), .permanent)
        : .failed(Failure(.protoSessionGone, "the temporary object is gone, and \(text)"), .sessionGone)
    case 404, 410: return answer.gone()
    case 400, 403, 405, 501: return isTold ? .inconclusive : inDoubt(Self.doubtful)
    default: return answer.refused()
    }
  }

  // MARK: - Doubt

  /// The file becomes `unknown`. Only a retry by a person leads on from there, and permits sending the file again: when
  /// the query about the same MOVE is inconclusive once more, another temporary object is created.
  private func inDoubt(_ failure: Failure) -> Interpretation {
    guard answer.note(Note.doubted) != nil else {
      return .failed(failure, .unknown).with(notes: [Note.doubted: "1"])
    }
    let text = "the result of MOVE still cannot be determined after a retry; the file is sent again"
    return .failed(Failure(.protoSessionGone, text), .sessionGone)
  }

  private static let doubtful = Failure(
    .protoLostAnswer,
    "the answer to MOVE was lost, and the server does not show whether the object is this file or an older one; check "
      + "the object, then use \"transfers resolve --done\"; or send the file again with \"transfers retry\"")

  /// The ETag of the temporary object; nil if there was none.
  private var tagBefore: String? { answer.note(Note.etag).flatMap { $0.isEmpty ? nil : $0 } }

  /// A move keeps the ETag on servers that derive it from the content, or from inode, size and time.
  private var otherTag: String? {
    guard let before = tagBefore, let now = reply.field("etag"), before != now else { return nil }
    return "has a different ETag than before"
  }

  /// A digest or the ETag of the temporary object shows that it is what was sent.
  private var isRecognised: Bool {
    if facts.parts.combinedDigest != nil, answer.digest != nil { return true }
    return tagBefore.map { $0 == reply.field("etag") } ?? false
  }

  private var proof: FileProof {
    let (sent, reported) = (facts.parts.combinedDigest, answer.digest)
    let isCompared = sent != nil && reported != nil
    return FileProof(
      confirmation: isCompared ? .digest : answer.length == nil ? .none : .size, digest: sent, remoteDigest: reported,
      etag: reply.field("etag") ?? "", requestID: reply.serverRequestID, serverDate: reply.field("date") ?? "")
  }
}
