import TransferModel

/// How far one file is, and what follows.
struct ProfileProgress {
  let proto: ProfileProtocol
  let facts: TransferFacts
  let notes: SessionNotes

  private var profile: Profile { proto.profile }

  init(_ proto: ProfileProtocol, _ facts: TransferFacts) {
    self.init(proto, facts, SessionNotes(facts.session?.notes ?? [:]))
  }

  /// With notes that are not those in `facts`.
  init(_ proto: ProfileProtocol, _ facts: TransferFacts, _ notes: SessionNotes) {
    (self.proto, self.facts, self.notes) = (proto, facts, notes)
  }

  func nextStep() -> TransferStep {
    if facts.learned.discovered?[ProfileProtocol.refreshIsDue] != nil { return .control(.discover) }
    guard let session = facts.session else { return openingStep }
    guard session.remoteID != nil else { return .control(.create) }
    if !facts.isAllStored, let failure = expiry(session) { return .dropSession(failure) }
    if let made = facts.parentsMade, made < facts.file.key.bytes.count(where: { $0 == 0x2F }) {
      return .control(.makeParent(depth: made + 1))
    }
    if mayBeWhole { return .control(.verify) }
    if wantsProbe { return .control(.probe(marker: nil)) }
    return facts.isAllStored ? lastStep : .chunks
  }

  /// Whether the answer to the last chunk was lost and no step follows: the file may be complete, and the session may
  /// be gone with it.
  var mayBeWhole: Bool {
    guard facts.lostAnswer == .part, !facts.isAllStored, !facts.isAbsent, !facts.inconclusive.contains(.verify) else {
      return false
    }
    return isLastMissing && canVerify && (endsWithChunks || profile.verifiesContent)
  }

  /// Whether at most one chunk is not stored; with parallel chunks it may be any one.
  var isLastMissing: Bool {
    let last = profile.chunk.mode == .parallel ? 0 : facts.layout.count - 1
    return facts.file.size - facts.acked <= facts.layout.range(last).length
  }

  /// Whether the last chunk completes the file.
  var endsWithChunks: Bool {
    !isPending(proto.finishName) && !isPending(proto.saveName)
  }

  /// A lost answer to `init` needs no query: a second session does no harm, and the first one expires.
  private var openingStep: TransferStep {
    if let step = profile.step(.begin), isWanted(step) { return .control(.create) }
    let uuid = SessionUUID.of(facts.file.uid, facts.wallMs)
    return .openSession(remoteID: uuid, notes: [SessionNotes.uuid: uuid])
  }

  private func expiry(_ session: SessionFacts) -> Failure? {
    // For a session that no request opens, its first moment is known.
    let ownMs = profile.step(.begin) == nil ? profile.session.ttlMs.map { session.intendedAtMs + $0 } : nil
    guard let expiresAtMs = profile.session.expiresAtMs(notes) ?? session.expiresAtMs ?? ownMs,
      expiresAtMs <= facts.wallMs
    else {
      return nil
    }
    return Failure(.protoSessionGone, "the session on the server has expired")
  }

  private var wantsProbe: Bool {
    guard let step = profile.step(.probe), isWanted(step) else { return false }
    if notes.wantsProbe { return true }
    guard !facts.isProbed, !notes.isComplete else { return false }
    if facts.isAllStored { return facts.lostAnswer == .finish && step.have.done != nil && !canVerify }
    return facts.isResumed || facts.lostAnswer == .part
  }

  // MARK: - The last steps

  private var lastStep: TransferStep {
    let (finishes, saves) = (isPending(proto.finishName), isPending(proto.saveName))
    let isInDoubt = finishes && facts.lostAnswer == .finish || saves && facts.lostAnswer == .save
    let isAsked = facts.isAbsent || facts.inconclusive.contains(.verify)
    if isInDoubt, !isAsked, canVerify { return .control(.verify) }
    if finishes { return .control(.finish) }
    if saves { return .control(.save) }
    if verifiesEnd { return .control(.verify) }
    return .complete(proof(confirmation: notes.proved, reply: nil))
  }

  var canVerify: Bool { wants(.verify) }

  /// Whether every file is verified after the last step, not only after lost answers.
  private var verifiesEnd: Bool {
    canVerify && profile.step(.verify)?.isOfDoubt == false
  }

  /// Whether the step exists and applies to this file.
  func wants(_ name: StepName) -> Bool {
    profile.step(name).map { isWanted($0) } ?? false
  }

  /// Whether a last step is still to be done. If a probe found the upload complete, no step needs to complete it.
  func isPending(_ name: StepName?) -> Bool {
    guard let name, let step = profile.step(name), !notes.isDone(name) else { return false }
    return !(name == proto.finishName && notes.isComplete) && isWanted(step)
  }

  /// Whether the last steps are done: the file must then be found by `verify`.
  var isEnded: Bool {
    facts.isAllStored && endsWithChunks
  }

  /// Whether the next request of the step is only a query about its progress.
  func isQuestion(_ name: StepName) -> Bool {
    guard notes.pollsSinceMs(name) != nil, let request = profile.step(name)?.poll?.request else { return false }
    return ProfileStep.isIdempotent(request.method)
  }

  /// If a condition cannot be evaluated, the step is performed: its request then reports the missing value.
  func isWanted(_ step: ProfileStep) -> Bool {
    guard let when = step.when else { return true }
    return (try? when.value(proto.values.scope(facts, nil, chunk: nil)).isTrue) ?? true
  }

  /// Whether another step follows the one that was just done; `isProved` means that its answer confirmed the file.
  func remains(after name: StepName, isProved: Bool) -> Bool {
    if name == proto.finishName, isPending(proto.saveName) { return true }
    return !isProved && verifiesEnd
  }

  /// The proof of the finished file. `confirmation` is what the last answer proves, if anything.
  func proof(confirmation: Confirmation?, reply: TransferReply?) -> FileProof {
    let isWhole = !facts.parts.isEmpty && facts.parts.count == facts.layout.count
    let digest = isWhole ? facts.parts.combinedDigest : nil
    let areProved = isWhole && facts.parts.allSatisfy { $0.confirmation == .digest }
    return FileProof(
      confirmation: confirmation ?? (areProved ? .digest : .none), digest: digest,
      remoteDigest: confirmation == .digest ? digest : nil, etag: reply?.field("etag") ?? "",
      requestID: reply?.serverRequestID ?? "", serverDate: reply?.field("date") ?? "")
  }
}
