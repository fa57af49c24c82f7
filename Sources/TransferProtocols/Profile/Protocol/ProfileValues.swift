import TransferModel

/// The values of the variables of a profile.
struct ProfileValues {
  let profile: Profile
  /// The literal inputs, by name.
  let inputs: [String: String]
  /// The query of the destination.
  let query: String

  func scope(_ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext) -> ProfileScope {
    var scope = scope(facts, context, chunk: step.chunk)
    if case .makeParent(let depth) = step {
      let components = facts.file.key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
      scope.parent = ["path": .text(Array(components.prefix(depth).joined(separator: [0x2F])))]
    }
    return scope
  }

  func scope(_ facts: TransferFacts, _ context: RequestContext?, chunk: ChunkFacts?) -> ProfileScope {
    let notes = SessionNotes(facts.session?.notes ?? [:])
    let uuid =
      notes.texts[SessionNotes.uuid] ?? SessionUUID.of(facts.file.uid, facts.session?.intendedAtMs ?? facts.wallMs)
    var scope = ProfileScope()
    scope.file = ProfileScope.file(
      path: facts.file.key, size: facts.file.size, mtimeMs: facts.file.mtimeMs,
      hashes: fileHashes(facts, context, chunk))
    scope.session = ["id": .string(uuid)].merging(notes.sessionValues) { $1 }
    scope.query = query
    scope.result = notes.resultValues
    scope.input = inputs.mapValues { .string($0) }
    if case .inputs(let secrets)? = context?.credential { scope.input.merge(secrets.mapValues { .string($0) }) { $1 } }
    scope.secret = facts.learned.secrets.mapValues { .string($0) }
    scope.chunkCount = facts.layout.count
    scope.parts = facts.isAllStored ? facts.parts.map { part($0, facts.layout) } : []
    scope.nowMs = context?.wallMs ?? facts.wallMs
    scope.uuid = uuid
    scope.attempt = (chunk?.failures ?? context?.failures ?? 0) + 1
    if let chunk {
      scope.chunk = self.chunk(chunk, facts.layout)
      scope.part = StoredValue.read(all: chunk.remote)
    }
    return scope
  }

  /// The digests that were computed in advance; in the end also the digest of the sent bytes.
  private func fileHashes(
    _ facts: TransferFacts, _ context: RequestContext?, _ chunk: ChunkFacts?
  ) -> [String: Digest] {
    var hashes: [String: Digest] = [:]
    if let chunk, let digest = wholeDigest(facts, chunk) { hashes[ProfileHash.crc32c.rawValue] = digest }
    if facts.isAllStored, facts.parts.count == facts.layout.count, let digest = facts.parts.combinedDigest {
      hashes[ProfileHash.crc32c.rawValue] = digest
    }
    for hash in profile.file.hashes {
      if let digest = context?.fileDigests[hash.algorithm] { hashes[hash.rawValue] = digest }
    }
    return hashes
  }

  /// The digest of the whole file after its last chunk was sent.
  private func wholeDigest(_ facts: TransferFacts, _ chunk: ChunkFacts) -> Digest? {
    guard chunk.seq == facts.layout.count - 1, facts.parts.count == chunk.seq, chunk.body.end == chunk.range.end,
      let digest = chunk.digests[.crc32c]
    else { return nil }
    let last = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: digest, confirmation: .none)
    return (facts.parts + [last]).combinedDigest
  }

  /// The bytes in this request: the whole chunk, or the part that the server lacks.
  private func chunk(_ chunk: ChunkFacts, _ layout: ChunkLayout) -> [String: TemplateValue] {
    var hashes: [String: Digest] = [:]
    for hash in profile.chunk.hashes { hashes[hash.rawValue] = chunk.digests[hash.algorithm] }
    var fields = ProfileScope.chunk(chunk.seq, of: layout, base: profile.chunk.numberBase, hashes: hashes)
    guard chunk.body != chunk.range else { return fields }
    fields["start"] = .int(chunk.body.offset)
    fields["end"] = .int(chunk.body.end - 1)
    fields["end_exclusive"] = .int(chunk.body.end)
    fields["size"] = .int(chunk.body.length)
    fields["range"] = ProfileScope.range(of: chunk.body)
    return fields
  }

  private func part(_ part: PartReceipt, _ layout: ChunkLayout) -> [String: TemplateValue] {
    let range = layout.range(part.seq)
    let fields: [String: TemplateValue] = [
      "index": .int(Int64(part.seq)), "number": .int(Int64(part.seq + profile.chunk.numberBase)),
      "start": .int(range.offset), "end": .int(range.end - 1), "size": .int(range.length),
    ]
    return fields.merging(StoredValue.read(all: part.remote)) { $1 }
  }
}
