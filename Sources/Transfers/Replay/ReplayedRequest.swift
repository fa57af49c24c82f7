import TransferModel
import TransferProtocols

/// The request of an attempt, rebuilt from what the ledger has recorded about it.
struct ReplayedRequest {
  let text: RequestText
  let secrets: ReplaySecrets

  /// - Throws: the reason why it can no longer be built.
  init(_ row: RequestRow, variant: Int) throws {
    var secrets = try ReplaySecrets(row.settings, variant: variant)
    let proto = try AllProtocols.make(row.settings, credentialsRegion: nil)
    let origin = try AllProtocols.origin(row.settings, credentialsRegion: nil)
    // The session ids of other protocols are names in queries.
    let facts = Self.facts(row, proto is any SessionURLs ? "\(origin)/" : "", &secrets)
    var row = row
    if var chunk = row.chunk, row.settings.direction == .upload {
      chunk.remote = Self.hidden(chunk.remote, "the ledger has it (chunk \(chunk.seq))", &secrets)
      row.chunk = chunk
    }
    var step = Self.step(row, facts)
    if case .chunk(var chunk) = step {
      // Placeholder: curl signs the request itself, and nothing of this signature is printed.
      if secrets.isSigned { chunk.digests[.sha256] = Digest(.sha256, [UInt8](repeating: 0, count: 32)) }
      step = .chunk(chunk)
    }
    let context = RequestContext(wallMs: row.mtimeMs, credential: secrets.credential, learned: LearnedFacts())
    text = RequestText(try proto.request(step, facts, context))
    self.secrets = secrets
  }

  private static func facts(_ row: RequestRow, _ origin: String, _ secrets: inout ReplaySecrets) -> TransferFacts {
    var file = FileFacts(uid: row.uid, key: row.key, size: row.size, mtimeMs: row.mtimeMs)
    file.properties = row.properties
    var facts = TransferFacts(file: file, layout: layout(row))
    if let session = row.session {
      let meaning = session.remoteID == nil ? "is no longer known" : "the ledger has it (session s\(session.id))"
      var remoteID = session.remoteID
      // A download has no upload whose URL could be missing.
      if remoteID.map(isCapability) ?? (row.settings.direction == .upload) {
        remoteID = secrets.variable("UPLOAD_URL", meaning) { "\(origin)\($0)" }
      }
      let notes = row.settings.direction == .download ? session.notes : hidden(session.notes, meaning, &secrets)
      facts.session = SessionFacts(remoteID: remoteID, intendedAtMs: 0, notes: notes)
    }
    facts.parts = row.parts.map { part in
      var part = part
      part.remote = hidden(part.remote, "the ledger has it (chunk \(part.seq))", &secrets)
      return part
    }
    facts.storedChunks = row.operation == .part ? 0 : row.parts.count
    (facts.isPlanned, facts.isProbed) = (true, true)
    return facts
  }

  private static func layout(_ row: RequestRow) -> ChunkLayout {
    guard let size = row.chunkSize, size > 0, let count = row.chunkCount, count > 1 else {
      return ChunkLayout(whole: row.size)
    }
    return ChunkLayout(size: row.size, chunkSize: size)
  }

  static func isCapability(_ text: String) -> Bool { text.contains("://") }

  /// Hides notes, because some servers use them as tokens. Numbers are not hidden.
  private static func hidden(
    _ notes: [String: String], _ meaning: String, _ secrets: inout ReplaySecrets
  ) -> [String: String] {
    var hidden: [String: String] = [:]
    for (name, value) in notes.sorted(by: { $0.key < $1.key }) {
      let isQuoted = value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
      if value.allSatisfy({ $0.isNumber || $0 == "\"" }) {
        hidden[name] = value
      } else {
        let mark = secrets.variable("UPLOAD_\(name)", meaning)
        hidden[name] = isQuoted ? "\"\(mark)\"" : mark
      }
    }
    return hidden
  }

  private static func step(_ row: RequestRow, _ facts: TransferFacts) -> StepRequest {
    let chunk = row.chunk.map { found in
      var chunk = ChunkFacts(seq: found.seq, range: found.range, remote: found.remote)
      if let body = row.body { chunk.body = body }
      return chunk
    }
    return switch (row.operation, chunk) {
    case (.create, _): .create
    case (.probe, let chunk?): .probeChunk(chunk)
    case (.probe, nil): .probe(marker: nil)
    case (.prepare, let chunk?): .prepareChunk(chunk)
    case (.part, let chunk?): .chunk(chunk)
    case (.save, _): .save
    case (.verify, _): .verify
    case (.abort, _): .abort(remoteID: facts.session?.remoteID ?? "")
    default: .finish
    }
  }
}
