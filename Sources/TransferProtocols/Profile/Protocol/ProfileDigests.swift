import TransferModel

/// Which digests the steps of a profile need.
struct ProfileDigests {
  let profile: Profile

  /// Digests of the whole file for a step: those that its request contains, or that its answer is compared with.
  func ofFile(for step: StepRequest, _ described: ProfileStep, _ facts: TransferFacts) -> Set<DigestAlgorithm> {
    guard !profile.file.hashes.isEmpty else { return [] }
    if case .abort = step { return [] }
    // The whole file is not read only for a value that one of many answers may contain.
    var isRead = true
    if case .chunk = step, facts.layout.count > 1 { isRead = false }
    let compared = described.comparedVariables(isRead ? .all : .required)
    let shared =
      (profile.headers + profile.auth.headers).flatMap(\.value.variables) + (profile.baseURL?.variables ?? [])
    let named = (shared + described.variables + compared).filter { $0.root == "file" }
    return Set(
      profile.file.hashes.filter { hash in named.contains { $0.accesses.first == .field(hash.rawValue) } }
        .map(\.algorithm))
  }

  /// Digests of chunks that the last steps use.
  var ofParts: [ProfileHash] {
    let variables = [StepName.complete, .commit, .verify].compactMap { profile.step($0) }.flatMap(\.variables)
    let named = Set(
      variables.filter { $0.root == "parts" || $0.root == "it" }.flatMap { variable in
        variable.accesses.compactMap { access -> String? in
          if case .field(let field) = access { field } else { nil }
        }
      })
    return profile.chunk.hashes.filter { named.contains($0.rawValue) }
  }
}
