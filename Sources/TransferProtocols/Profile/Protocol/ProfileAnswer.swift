import TransferModel

/// One answer to one step of a profile, and everything that its meaning depends on.
struct ProfileAnswer {
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

  /// How often the rule with this index was applied.
  func followed(_ rule: Int) -> Int { notes.count(key, rule) }

  func isLast(_ chunk: ChunkFacts) -> Bool { chunk.seq == facts.layout.count - 1 && chunk.body.end == chunk.range.end }

  /// The values that can be extracted.
  func extracted() -> ExtractedValues { ExtractedValues(rules.extract, reader, scope) }

  func noted(_ notes: [String: String], _ meaning: Interpretation) -> Interpretation {
    notes.isEmpty || facts.session == nil ? meaning : meaning.with(notes: notes)
  }

  func receipt(_ chunk: ChunkFacts, _ values: [String: String], _ confirmation: Confirmation?) -> PartReceipt {
    var remote = chunk.remote.merging(values) { $1 }
    for hash in proto.partHashes {
      if let digest = chunk.digests[hash.algorithm] { remote[hash.rawValue] = StoredValue.text(.digest(digest.bytes)) }
    }
    let etag = values["etag"].flatMap(StoredValue.read).flatMap { try? $0.text() } ?? reply.field("etag") ?? ""
    return PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: etag, digest: chunk.digests[proto.sentDigest],
      confirmation: confirmation == .digest ? .digest : .none, remote: remote)
  }

  static let unsaid = Failure(
    .protoLostAnswer, "the server has the chunk, but does not repeat the value that the next step needs")

  /// Whether a value that only the answer to `chunk` contains is neither in `values` nor known.
  func lacksRequired(_ values: ExtractedValues, _ scopes: Set<ExtractTarget.Scope>, of chunk: ChunkFacts) -> Bool {
    let scope = proto.values.scope(facts, context, chunk: chunk)
    return proto.profile.step(.chunk)?.extract.contains { target in
      guard scopes.contains(target.scope), target.extraction.isRequired,
        (try? target.extraction.isWanted(scope)) != false
      else { return false }
      if target.scope == .part { return values.part[target.name] == nil && chunk.remote[target.name] == nil }
      let name = SessionNotes.result(target.name)
      return values.notes[name] == nil && notes.texts[name] == nil
    } ?? false
  }

  var refreshes: String { ProfileProtocol.refreshes(facts.file.uid) }
  var counters: [String] { [ProfileProtocol.restarts(facts.file.uid), refreshes] }

  /// Clears the counters of this file in this run.
  func forgetting(_ keys: [String], _ meaning: Interpretation) -> Interpretation {
    var learned = context.learned
    guard var discovered = learned.discovered, keys.contains(where: { discovered[$0] != nil }) else { return meaning }
    for key in keys { discovered[key] = nil }
    learned.discovered = discovered
    return meaning.with(learned: learned)
  }
}
