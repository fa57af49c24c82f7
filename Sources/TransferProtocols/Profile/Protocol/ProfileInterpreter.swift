import TransferModel

extension ProfileProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard let (name, described) = described(step) else {
      return .failed(Failure(.engineBug, "the profile has no step to \(step.operation.rawValue)"), .permanent)
    }
    let url = (try? request(step, facts, context).url) ?? inputs["url"] ?? ""
    let interpreter = ProfileInterpreter(
      proto: self, step: step, name: name, rules: described, reply: reply, reader: ReplyReader(reply, url: url),
      facts: facts, context: context, scope: scope(step, facts, context))
    return interpreter.interpretation()
  }
}

/// One answer to one step of a profile, and everything needed to interpret it.
///
/// The order is: the rules of the step, the common rules, a missing answer, `poll`, `success`. Otherwise
/// ``StatusClass`` determines the meaning.
struct ProfileInterpreter {
  let proto: ProfileProtocol
  let step: StepRequest
  /// nil for `auth.refresh`.
  let name: StepName?
  let rules: ProfileStep
  let reply: TransferReply
  let reader: ReplyReader
  let facts: TransferFacts
  let context: RequestContext
  let scope: ProfileScope

  var notes: SessionNotes { SessionNotes(facts.session?.notes ?? [:]) }
  var chunk: ChunkFacts? { step.chunk }
  /// The key of the step, and of the chunk if there is one, in the notes.
  var key: String { (name?.rawValue ?? "refresh") + (chunk.map { ".\($0.seq)" } ?? "") }
  /// Earlier attempts of the same step without progress.
  var failures: Int { chunk?.failures ?? context.failures }

  func interpretation() -> Interpretation {
    let found: Interpretation
    do {
      found = try meaning()
    } catch let fault as Extraction.Fault {
      found = misshapen(fault.message)
    } catch let fault as RenderFault {
      found = .failed(fault.failure, .permanent)
    } catch {
      found = .failed(Failure(.engineBug, "\(error)"), .permanent)
    }
    return remembering(found)
  }

  private func meaning() throws -> Interpretation {
    if let (index, rule) = try matchingRule() { return try follow(rule, index) }
    if let failure = reply.transportFailure { return lost(failure) }
    if step.isProbeOfChunk, let meaning = try probedChunk() { return meaning }
    // An answer without the compared value does not end the polling.
    if let poll = rules.poll, try poll.condition.holds(reader, scope, earlier: [], countsNothing: true) {
      return polling(poll)
    }
    guard rules.success.status.contains(reply.status) || isAcceptedAndVerified else { return refused() }
    if let meaning = try unmetRequirement() { return meaning }
    return try succeeded()
  }

  /// 202 leaves the outcome open, and `verify` queries it.
  private var isAcceptedAndVerified: Bool {
    reply.status == 202 && (step == .finish || step == .save) && proto.isAlways(.verify)
  }

  /// The first rule that matches and was not applied too often. If no answer was received, only rules for that case can
  /// match.
  private func matchingRule() throws -> (Int, ProfileRule)? {
    let earlier = notes.seen(key)
    for (index, rule) in (rules.rules + proto.profile.errors).enumerated() {
      if reply.transportFailure != nil && rule.condition.curl == nil { continue }
      if let most = rule.most, max(followed(index), rule.action.countsAsFailure ? failures : 0) >= most { continue }
      if try rule.condition.holds(reader, scope, earlier: earlier) { return (index, rule) }
    }
    return nil
  }

  func followed(_ rule: Int) -> Int { notes.count(key, rule) }

  /// Statuses are remembered if a rule asks for earlier ones; a success clears them.
  private func remembering(_ meaning: Interpretation) -> Interpretation {
    let asks = (rules.rules + proto.profile.errors).contains { $0.condition.seen != nil }
    guard asks, reply.isAnswered, facts.session != nil else { return meaning }
    let seen = notes.seen(key).union([reply.status]).sorted().map(String.init).joined(separator: ",")
    return meaning.with(notes: [SessionNotes.seen(key): meaning.goesOn ? seen : ""])
  }

  /// A failure with text from the answer.
  func failure(_ code: ErrorCode? = nil, _ detail: String = "") -> Failure {
    Failure(answer: reply, code: code, detail: detail.isEmpty ? excerpt : detail, wallMs: context.wallMs)
  }

  /// The start of a short error text from the server.
  private var excerpt: String {
    // Answers to `auth.refresh` contain secrets.
    guard name != nil, reply.status >= 300, reply.body.count <= 4 << 10, !reader.isHTML else { return "" }
    return String(decoding: reply.body.prefix(200), as: UTF8.self)
  }

  // MARK: - Success

  /// Whether an answer meets a condition about the upload; an unreadable one does not.
  func claims(_ condition: Condition) throws -> Bool {
    guard try condition.holds(reader, scope, earlier: []) else { return false }
    if let fault = condition.documentFault(reader) { throw Extraction.Fault(message: fault) }
    return true
  }

  /// The requirements that apply. One whose condition cannot be evaluated does.
  var requirements: [Requirement] {
    rules.success.requirements.filter { (try? $0.source.isWanted(scope)) ?? true }
  }

  /// nil if all requirements hold.
  func unmetRequirement() throws -> Interpretation? {
    if reader.isPage, !readsBody {
      return misshapen("the server answered an HTML page" + (readsJSON ? ", not JSON" : ""))
    }
    let isEnded = proto.isEnded(facts, notes)
    for requirement in requirements where !(requirement.isOfDoubt && isEnded) {
      if requirement.isOptional && !requirement.isPresent(reader) { continue }
      if let fault = reader.documentFault(requirement.source.source) { return misshapen(fault) }
      if isUncheckable(requirement) { continue }
      guard try !requirement.holds(reader, scope) else { continue }
      let message = "the server answered \(reply.status), but \(requirement.words(reader, scope))"
      // A missing value is not a different value.
      if requirement.lacksValue(reader), requirement.isAboutContent {
        if step == .verify, isEnded { continue }
        return notTold(message)
      }
      if step == .verify { return isEnded ? different(requirement, message) : .absent }
      if requirement.namesHash(of: "chunk") { return again(Failure(.integrityMismatch, message)) }
      if isLongerThanSent(requirement) {
        let text = "\(message): the upload is complete, and the server has changed the file"
        return .failed(Failure(.integrityMismatch, text), .permanent)
      }
      // The server stored a different file, so it is sent again.
      if requirement.namesHash(of: "file") || requirement.names("file", field: "size") {
        return sessionGone(Failure(.integrityMismatch, message))
      }
      return .failed(Failure(.protoBadReply, message), .permanent)
    }
    return nil
  }

  /// Whether the answer completes the upload with more bytes than were sent: the server writes into files, and would do
  /// so again.
  private func isLongerThanSent(_ requirement: Requirement) -> Bool {
    guard requirement.names("file", field: "size"), let chunk, chunk.range.end == facts.layout.size,
      name == .chunk, proto.finishName == nil
    else { return false }
    let found = (try? requirement.source.values(in: reader))?.first.flatMap { try? $0.integer() }
    return found.map { $0 > facts.layout.size } ?? false
  }

  /// The answer lacks a length or a digest that the profile requires, but nothing is known to be wrong.
  private func notTold(_ message: String) -> Interpretation {
    let failure = Failure(.protoBadReply, message)
    switch step {
    case .verify: return inconclusive(failure)
    case .finish, .save: return misshapen(message)
    default: return .failed(failure, .permanent)
    }
  }

  private var readsBody: Bool {
    requirements.contains { $0.source.source == .body } || rules.have.exists?.readsBody == true
  }

  private var readsJSON: Bool {
    let sources = rules.extract.map(\.extraction.source) + requirements.map(\.source.source)
    return sources.contains { source in
      if case .json = source { true } else { false }
    }
  }

  /// Whether it compares with the digest of the whole file, which is not known because some chunk was confirmed by an
  /// offset.
  private func isUncheckable(_ requirement: Requirement) -> Bool {
    guard requirement.namesHash(of: "file"), case .record(let file) = scope.root("file") else { return false }
    // Optional digests of the file are not always computed.
    let isLeftOut = ProfileHash.allCases.contains {
      requirement.names("file", field: $0.rawValue) && file[$0.rawValue] == nil
    }
    if requirement.isOptional && isLeftOut { return true }
    return file[ProfileHash.crc32c.rawValue] == nil && requirement.names("file", field: ProfileHash.crc32c.rawValue)
  }

  /// What the requirements that held prove about the `chunk` or `file` that was sent.
  func proved(_ root: String) -> Confirmation? {
    let checked = requirements.filter { !isUncheckable($0) && $0.isPresent(reader) }
    if checked.contains(where: { $0.namesHash(of: root) }) { return .digest }
    return checked.contains { $0.names(root, field: "size") } ? .size : nil
  }

  /// The body is not what the profile expects: a proxy, a login page, a crash. Treated as a gateway error.
  func misshapen(_ message: String) -> Interpretation {
    let failure = Failure(
      .protoBadReply, "\(message) (status \(reply.status))",
      retryAfterMs: RetryAfter.milliseconds(reply.fields, wallMs: context.wallMs))
    return uncertain(failure, .retry(isThrottled: false))
  }
}

extension StepRequest {
  var isProbeOfChunk: Bool { if case .probeChunk = self { true } else { false } }
}

extension Interpretation {
  /// Whether the same step is repeated.
  fileprivate var goesOn: Bool {
    switch outcome {
    case .failed, .notYet: true
    default: false
    }
  }
}

extension ProfileRule.Action {
  /// Whether the attempt counts as one without progress.
  fileprivate var countsAsFailure: Bool {
    switch self {
    case .retry, .retryAfter, .reprobe, .restartSession, .setOffset: true
    case .ok, .skipChunk, .refreshAuth, .prepareAgain, .makeParents, .shrinkChunk, .fail: false
    }
  }
}
