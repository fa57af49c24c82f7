import TransferModel

/// The meaning of an answer to `verify`.
struct ProfileVerification: ProfileAnswerPart {
  let answer: ProfileAnswer

  /// The file exists. After a lost answer to the first of two last steps the second one is still pending.
  func verified(_ values: ExtractedValues) -> Interpretation {
    if !progress.isEnded, isOlder { return isHarmless ? .absent : refusals.unknown(Self.older, stepInDoubt) }
    guard facts.lostAnswer == .finish, let finish = proto.finishName, progress.isPending(finish),
      progress.isPending(proto.saveName)
    else { return success.finished(values.notes) }
    return answer.noted(values.notes.merging([SessionNotes.done(finish): "1"]) { $1 }, .settled)
  }

  /// By the server's own clock, the file was last modified before the session began, and no digest shows that it is
  /// this one. Not if the server keeps the modification time of the source.
  private var isOlder: Bool {
    guard checks.proved("file") != .digest, !proto.profile.verifiesUpload, let session = facts.session,
      let modified = date("last-modified"), let now = date("date"),
      modified / 1_000 != facts.file.mtimeMs / 1_000
    else { return false }
    // Both dates are in whole seconds.
    return now - modified > max(0, context.wallMs - session.intendedAtMs) + 2_000
  }

  private func date(_ field: String) -> Int64? {
    reply.field(field).flatMap { HTTPDate.parse($0, wallMs: context.wallMs) }
  }

  private static let older = Failure(
    .protoLostAnswer, "the server has a file of this size, which was last modified before the upload began")

  /// `verify` was inconclusive, which is not "absent". If all steps are done, their answers count; in doubt the
  /// protocol continues if that is harmless.
  func inconclusive(_ failure: Failure) -> Interpretation {
    if progress.isEnded {
      return answer.forgetting(answer.counters, .finished(progress.proof(confirmation: notes.proved, reply: nil)))
    }
    return isHarmless ? .inconclusive : refusals.unknown(failure, stepInDoubt)
  }

  /// The step whose answer was lost.
  private var stepInDoubt: StepName? {
    switch facts.lostAnswer {
    case .finish: proto.finishName
    case .save: proto.saveName
    default: .chunk
    }
  }

  /// Whether it may be repeated.
  private var isHarmless: Bool {
    guard let step = stepInDoubt else { return false }
    return step == .chunk ? proto.profile.chunk.isIdempotent : proto.profile.step(step)?.isIdempotent == true
  }

  /// A file that is verified after all steps must be the one that was sent.
  func different(_ requirement: Requirement, _ message: String) -> Interpretation {
    guard requirement.namesHash(of: "file") || requirement.names("file", field: "size") else {
      return missing(Failure(.protoBadReply, message))
    }
    return .failed(Failure(.integrityMismatch, message), .permanent)
  }

  /// All steps are done, but the file is missing: it may take a moment to appear.
  func missing(_ failure: Failure) -> Interpretation {
    var failure = failure
    failure.message = "the server completed the upload, but does not find it: \(failure.message)"
    return .failed(failure, failures < ProfileProtocol.mostLooks ? .retry(isThrottled: false) : .permanent)
  }
}
