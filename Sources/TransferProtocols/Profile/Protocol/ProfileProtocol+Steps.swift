import TransferModel

extension ProfileProtocol {
  public func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.learned.discovered?[Self.refreshIsDue] != nil { return .control(.discover) }
    guard let session = facts.session else { return openingStep(facts) }
    guard session.remoteID != nil else { return .control(.create) }
    let notes = SessionNotes(session.notes)
    if !facts.isAllStored, let failure = expiry(session, notes, facts.wallMs) { return .dropSession(failure) }
    if let made = facts.parentsMade, made < facts.file.key.bytes.count(where: { $0 == 0x2F }) {
      return .control(.makeParent(depth: made + 1))
    }
    if mayBeWhole(facts, notes) { return .control(.verify) }
    if wantsProbe(facts, notes) { return .control(.probe(marker: nil)) }
    return facts.isAllStored ? lastStep(facts, notes) : .chunks
  }

  /// The answer to the last chunk was lost, and no step is to follow: the file may be there, and with it the session
  /// may be gone.
  func mayBeWhole(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    guard facts.lostAnswer == .part, !facts.isAllStored, !facts.isAbsent, !facts.untold.contains(.verify) else {
      return false
    }
    return isLastMissing(facts) && canVerify(facts) && (endsWithChunks(facts, notes) || verifiesContent)
  }

  /// At most one chunk is not stored; of chunks side by side that may be any.
  func isLastMissing(_ facts: TransferFacts) -> Bool {
    let last = profile.chunk.mode == .parallel ? 0 : facts.layout.count - 1
    return facts.file.size - facts.acked <= facts.layout.range(last).length
  }

  /// What `verify` finds can be no older version of the file: it compares a digest, or asks for what only this session
  /// has.
  var verifiesContent: Bool {
    guard let step = profile.step(.verify) else { return false }
    let isCompared = step.success.requirements.contains { requirement in
      !requirement.isOptional && profile.file.hashes.contains { requirement.names("file", field: $0.rawValue) }
    }
    return isCompared || verifiesUpload
  }

  /// The request of `verify` asks about the upload, and not about the object: it names what only this session has.
  var verifiesUpload: Bool {
    profile.step(.verify)?.variables.contains { $0.root == "session" || $0.root == "uuid" } ?? false
  }

  /// The last chunk makes the file.
  func endsWithChunks(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    !isPending(finishName, facts, notes) && !isPending(saveName, facts, notes)
  }

  /// A lost answer to `init` is not asked about: a second session does no harm, and the first one expires.
  private func openingStep(_ facts: TransferFacts) -> TransferStep {
    if let step = profile.step(.begin), isWanted(step, facts) { return .control(.create) }
    let uuid = Self.uuid(facts.file.uid, facts.wallMs)
    return .openSession(remoteID: uuid, notes: [SessionNotes.uuid: uuid])
  }

  /// A UUID (version 8, RFC 9562) that belongs to one session of one file.
  static func uuid(_ uid: UID, _ ms: Int64) -> String {
    let hash = RunningDigest.of(Array("session \(uid) \(ms)".utf8), .sha256).bytes
    let words = [hash[0..<8], hash[8..<16]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    let high = words[0] & ~0xF000 | 0x8000
    let low = words[1] & ~(3 << 62) | 1 << 63
    return UID(high: high, low: low).description
  }

  private func expiry(_ session: SessionFacts, _ notes: SessionNotes, _ wallMs: Int64) -> Failure? {
    // Of a session that nobody opens, the first moment is known.
    let ownMs = profile.step(.begin) == nil ? profile.session.ttlMs.map { session.intendedAtMs + $0 } : nil
    guard let expiresAtMs = expiresAtMs(notes) ?? session.expiresAtMs ?? ownMs, expiresAtMs <= wallMs else {
      return nil
    }
    return Failure(.protoSessionGone, "the session at the server has expired")
  }

  /// The time that answers last named: some servers move it with each chunk.
  func expiresAtMs(_ notes: SessionNotes) -> Int64? {
    guard let name = profile.session.ttlFrom, case .time(let ms)? = notes.sessionValues[name] else { return nil }
    return ms
  }

  private func wantsProbe(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    guard let step = profile.step(.probe), isWanted(step, facts) else { return false }
    if notes.wantsProbe { return true }
    guard !facts.isProbed, !notes.isComplete else { return false }
    if facts.isAllStored { return facts.lostAnswer == .finish && step.have.done != nil && !canVerify(facts) }
    return facts.isResumed || facts.lostAnswer == .part
  }

  // MARK: - The last steps

  private func lastStep(_ facts: TransferFacts, _ notes: SessionNotes) -> TransferStep {
    let (finishes, saves) = (isPending(finishName, facts, notes), isPending(saveName, facts, notes))
    let isInDoubt = finishes && facts.lostAnswer == .finish || saves && facts.lostAnswer == .save
    let isAsked = facts.isAbsent || facts.untold.contains(.verify)
    if isInDoubt, !isAsked, canVerify(facts) { return .control(.verify) }
    if finishes { return .control(.finish) }
    if saves { return .control(.save) }
    if verifiesEnd(facts) { return .control(.verify) }
    return .complete(proof(facts, confirmation: notes.proved, reply: nil))
  }

  func canVerify(_ facts: TransferFacts) -> Bool { wants(.verify, facts) }

  /// Every file is verified when all is done, and not only one in doubt.
  private func verifiesEnd(_ facts: TransferFacts) -> Bool {
    canVerify(facts) && profile.step(.verify)?.isOfDoubt == false
  }

  /// The step is there, and for this file.
  func wants(_ name: StepName, _ facts: TransferFacts) -> Bool {
    profile.step(name).map { isWanted($0, facts) } ?? false
  }

  /// A last step that is still to be done. What a probe found complete needs no step that completes it.
  func isPending(_ name: StepName?, _ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    guard let name, let step = profile.step(name), !notes.isDone(name) else { return false }
    return !(name == finishName && notes.isComplete) && isWanted(step, facts)
  }

  /// The last steps are done: what is verified then has to be there.
  func isEnded(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    facts.isAllStored && endsWithChunks(facts, notes)
  }

  /// The next request of the step only asks how far it is.
  func isQuestion(_ name: StepName, _ notes: SessionNotes) -> Bool {
    guard notes.pollsSinceMs(name) != nil, let request = profile.step(name)?.poll?.request else { return false }
    return ProfileStep.isIdempotent(request.method)
  }

  /// A condition that cannot be computed lets the step happen: its request then says what is missing.
  func isWanted(_ step: ProfileStep, _ facts: TransferFacts) -> Bool {
    guard let when = step.when else { return true }
    return (try? when.value(scope(facts, nil, chunk: nil)).isTrue) ?? true
  }

  /// Whether a step is still to come behind the one that was just done; `isProved` says that its answer confirmed the
  /// file.
  func remains(after name: StepName, _ facts: TransferFacts, _ notes: SessionNotes, isProved: Bool) -> Bool {
    if name == finishName, isPending(saveName, facts, notes) { return true }
    return !isProved && verifiesEnd(facts)
  }

  /// What is known of the finished file. `confirmation` is what the last answer proves, if anything.
  func proof(_ facts: TransferFacts, confirmation: Confirmation?, reply: TransferReply?) -> FileProof {
    let isWhole = !facts.parts.isEmpty && facts.parts.count == facts.layout.count
    let digest = isWhole ? facts.parts.combinedDigest : nil
    let areProved = isWhole && facts.parts.allSatisfy { $0.confirmation == .digest }
    return FileProof(
      confirmation: confirmation ?? (areProved ? .digest : .none), digest: digest,
      remoteDigest: confirmation == .digest ? digest : nil, etag: reply?.field("etag") ?? "",
      requestID: reply?.serverRequestID ?? "", serverDate: reply?.field("date") ?? "")
  }
}
