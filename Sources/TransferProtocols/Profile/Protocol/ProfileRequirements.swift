import TransferModel

/// What the profile requires of a success, and what that proves.
struct ProfileRequirements: ProfileAnswerPart {
  let answer: ProfileAnswer

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
      return refusals.misshapen("the server answered an HTML page" + (readsJSON ? ", not JSON" : ""))
    }
    let isEnded = progress.isEnded
    for requirement in requirements where !(requirement.isOfDoubt && isEnded) {
      if requirement.isOptional && !requirement.isPresent(reader) { continue }
      if let fault = reader.documentFault(requirement.source.source) { return refusals.misshapen(fault) }
      if isUncheckable(requirement) { continue }
      guard try !requirement.holds(reader, scope) else { continue }
      let message = "the server answered \(reply.status), but \(requirement.words(reader, scope))"
      // A missing value is not a different value.
      if requirement.lacksValue(reader), requirement.isAboutContent {
        if step == .verify, isEnded { continue }
        return notTold(message)
      }
      if step == .verify { return isEnded ? verification.different(requirement, message) : .absent }
      if requirement.namesHash(of: "chunk") { return refusals.again(Failure(.integrityMismatch, message)) }
      if isLongerThanSent(requirement) {
        let text = "\(message): the upload is complete, and the server has changed the file"
        return .failed(Failure(.integrityMismatch, text), .permanent)
      }
      // The server stored a different file, so it is sent again.
      if requirement.namesHash(of: "file") || requirement.names("file", field: "size") {
        return refusals.sessionGone(Failure(.integrityMismatch, message))
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
    case .verify: return verification.inconclusive(failure)
    case .finish, .save: return refusals.misshapen(message)
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

  /// The digest of the whole file that a requirement compared.
  var compared: Digest? {
    let hash = proto.profile.file.hashes.first { hash in
      requirements.contains { $0.names("file", field: hash.rawValue) && $0.isPresent(reader) }
    }
    return hash.flatMap { context.fileDigests[$0.algorithm] }
  }
}
