import TransferModel

extension ProfileProtocol {
  package func nextStep(_ facts: TransferFacts) -> TransferStep {
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

  /// Whether the answer to the last chunk was lost and no step follows: the file may be complete, and the session may
  /// be gone with it.
  func mayBeWhole(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    guard facts.lostAnswer == .part, !facts.isAllStored, !facts.isAbsent, !facts.inconclusive.contains(.verify) else {
      return false
    }
    return isLastMissing(facts) && canVerify(facts) && (endsWithChunks(facts, notes) || verifiesContent)
  }

  /// Whether at most one chunk is not stored; with parallel chunks it may be any one.
  func isLastMissing(_ facts: TransferFacts) -> Bool {
    let last = profile.chunk.mode == .parallel ? 0 : facts.layout.count - 1
    return facts.file.size - facts.acked <= facts.layout.range(last).length
  }

  /// Whether `verify` cannot find an older version of the file: it compares a digest, or queries something that only
  /// this session has.
  var verifiesContent: Bool {
    guard let step = profile.step(.verify) else { return false }
    let isCompared = step.success.requirements.contains { requirement in
      !requirement.isOptional && profile.file.hashes.contains { requirement.names("file", field: $0.rawValue) }
    }
    return isCompared || verifiesUpload
  }

  /// Whether the request of `verify` queries the upload, not the object: it contains something that only this session
  /// has.
  var verifiesUpload: Bool {
    profile.step(.verify)?.variables.contains { $0.root == "session" || $0.root == "uuid" } ?? false
  }

  /// Whether the last chunk completes the file.
  func endsWithChunks(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    !isPending(finishName, facts, notes) && !isPending(saveName, facts, notes)
  }

  /// A lost answer to `init` needs no query: a second session does no harm, and the first one expires.
  private func openingStep(_ facts: TransferFacts) -> TransferStep {
    if let step = profile.step(.begin), isWanted(step, facts) { return .control(.create) }
    let uuid = Self.uuid(facts.file.uid, facts.wallMs)
    return .openSession(remoteID: uuid, notes: [SessionNotes.uuid: uuid])
  }

  /// A UUID (version 8, RFC 9562) that belongs to one session of one file.
  static func uuid(_ uid: UID, _ ms: Int64) -> String { uuid(of: "session \(uid) \(ms)") }

  static func uuid(of text: String) -> String {
    let hash = RunningDigest.of(Array(text.utf8), .sha256).bytes
    let words = [hash[0..<8], hash[8..<16]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    let high = words[0] & ~0xF000 | 0x8000
    let low = words[1] & ~(3 << 62) | 1 << 63
    return UID(high: high, low: low).description
  }

  private func expiry(_ session: SessionFacts, _ notes: SessionNotes, _ wallMs: Int64) -> Failure? {
    // For a session that no request opens, its first moment is known.
    let ownMs = profile.step(.begin) == nil ? profile.session.ttlMs.map { session.intendedAtMs + $0 } : nil
    guard let expiresAtMs = expiresAtMs(notes) ?? session.expiresAtMs ?? ownMs, expiresAtMs <= wallMs else {
      return nil
    }
    return Failure(.protoSessionGone, "the session on the server has expired")
  }

  /// The expiry time in the latest answer: some servers change it with each chunk.
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
    let isAsked = facts.isAbsent || facts.inconclusive.contains(.verify)
    if isInDoubt, !isAsked, canVerify(facts) { return .control(.verify) }
    if finishes { return .control(.finish) }
    if saves { return .control(.save) }
    if verifiesEnd(facts) { return .control(.verify) }
    return .complete(proof(facts, confirmation: notes.proved, reply: nil))
  }

  func canVerify(_ facts: TransferFacts) -> Bool { wants(.verify, facts) }

  /// Whether every file is verified after the last step, not only after lost answers.
  private func verifiesEnd(_ facts: TransferFacts) -> Bool {
    canVerify(facts) && profile.step(.verify)?.isOfDoubt == false
  }

  /// Whether the step exists and applies to this file.
  func wants(_ name: StepName, _ facts: TransferFacts) -> Bool {
    profile.step(name).map { isWanted($0, facts) } ?? false
  }

  /// Whether a last step is still to be done. If a probe found the upload complete, no step needs to complete it.
  func isPending(_ name: StepName?, _ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    guard let name, let step = profile.step(name), !notes.isDone(name) else { return false }
    return !(name == finishName && notes.isComplete) && isWanted(step, facts)
  }

  /// Whether the last steps are done: the file must then be found by `verify`.
  func isEnded(_ facts: TransferFacts, _ notes: SessionNotes) -> Bool {
    facts.isAllStored && endsWithChunks(facts, notes)
  }

  /// Whether the next request of the step is only a query about its progress.
  func isQuestion(_ name: StepName, _ notes: SessionNotes) -> Bool {
    guard notes.pollsSinceMs(name) != nil, let request = profile.step(name)?.poll?.request else { return false }
    return ProfileStep.isIdempotent(request.method)
  }

  /// If a condition cannot be evaluated, the step is performed: its request then reports the missing value.
  func isWanted(_ step: ProfileStep, _ facts: TransferFacts) -> Bool {
    guard let when = step.when else { return true }
    return (try? when.value(scope(facts, nil, chunk: nil)).isTrue) ?? true
  }

  /// Whether another step follows the one that was just done; `isProved` means that its answer confirmed the file.
  func remains(after name: StepName, _ facts: TransferFacts, _ notes: SessionNotes, isProved: Bool) -> Bool {
    if name == finishName, isPending(saveName, facts, notes) { return true }
    return !isProved && verifiesEnd(facts)
  }

  /// The proof of the finished file. `confirmation` is what the last answer proves, if anything.
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
