import TransferModel

/// What a server calls an upload is unique only together with the rest of the requests for its chunks: if these contain
/// the path or the name of the file, a digest of it, or our UUID, two files may have the same ID or URL. Otherwise the
/// server would store both in one place.
struct ProfileUploadNames {
  let profile: Profile

  func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName? {
    switch (step, meaning.outcome) {
    case (.create, _):
      guard facts.session?.remoteID == nil, !givenNames.isEmpty, !tellsFiles else { return nil }
      return meaning.opened.map { Self.name($0.remoteID) }
    case (.prepareChunk(let chunk), .chunkPrepared(let remote)):
      let values = preparedNames.compactMap { remote[$0] }
      guard !values.isEmpty, !tellsChunks else { return nil }
      return Self.name(Self.text(values), chunk: chunk.seq, isOfFile: tellsFiles || !givenNames.isEmpty)
    default: return nil
    }
  }

  private static func name(_ text: String, chunk: Int? = nil, isOfFile: Bool = false) -> UploadName {
    let name = UploadName(text, .everywhere, chunk: chunk)
    if isOfFile { return UploadName(text, .file, chunk: chunk) }
    return name.isURL ? name : UploadName(text, .destination, chunk: chunk)
  }

  /// The ID or URL alone; several values, and tokens, as a UUID that is computed from them.
  private static func text(_ values: [String], isToken: Bool = false) -> String {
    if values.count == 1, !isToken, case .text(let bytes)? = StoredValue.read(values[0]) {
      return String(decoding: bytes, as: UTF8.self)
    }
    return SessionUUID.of(values.joined(separator: " "))
  }

  /// The name of the session in the ledger: what the answer to `init` calls the upload, or a UUID.
  func remoteID(_ notes: [String: String], orElse uuid: String) -> String {
    let values = givenNames.compactMap { notes[SessionNotes.session($0)] }
    let id = notes[SessionNotes.session("id")].flatMap(StoredValue.read).flatMap { try? $0.text() }
    if let id, values.isEmpty || givenNames == ["id"] { return id.isEmpty ? uuid : id }
    guard !values.isEmpty else { return uuid }
    let text = Self.text(values)
    return UploadName(text, .everywhere).isURL ? text : Self.text(values, isToken: true)
  }

  // MARK: - What the requests for chunks contain

  /// The values from the answer to `init` in these requests, without numbers that describe the upload.
  private var givenNames: [String] {
    let described = [profile.session.ttlFrom, sizeName]
    let extracted = profile.step(.begin)?.extract.filter { $0.scope == .session }.map(\.name) ?? []
    let named = Set(chunkVariables.filter { $0.root == "session" }.compactMap(\.field))
    return Set(extracted).filter { named.contains($0) && !described.contains($0) }.sorted()
  }

  private var sizeName: String? { if case .session(let name) = profile.chunk.size { name } else { nil } }

  /// The values from `prepare_chunk` in them.
  private var preparedNames: [String] {
    let extracted = profile.step(.prepareChunk)?.extract.filter { $0.scope == .part }.map(\.name) ?? []
    let named = Set(chunkVariables.filter { $0.root == "part" }.compactMap(\.field))
    return extracted.filter(named.contains).sorted()
  }

  /// They differ between files even if the server calls their uploads the same.
  private var tellsFiles: Bool {
    let isGivenID = profile.step(.begin)?.extract.contains { $0.scope == .session && $0.name == "id" } ?? false
    return chunkVariables.contains { variable in
      switch (variable.root, variable.field) {
      case ("uuid", _): true
      case ("session", "id"): !isGivenID
      case ("file", let field?): !["size", "ext", "mime", "mtime"].contains(field)
      default: false
      }
    }
  }

  /// They differ between the chunks of a file.
  private var tellsChunks: Bool {
    let places: Set<String> = ["index", "number", "start", "end", "end_exclusive", "range"]
    return chunkVariables.contains { $0.root == "chunk" && $0.field.map(places.contains) == true }
  }

  /// The server knows which bytes are meant before it has them.
  var namesDigestOfChunk: Bool {
    let digests = Set(profile.chunk.hashes.map(\.rawValue))
    return chunkVariables.contains { $0.root == "chunk" && $0.field.map(digests.contains) == true }
  }

  private var chunkVariables: [Expression.Variable] {
    guard let step = profile.step(.chunk) else { return [] }
    let fields = step.query + step.headers + profile.headers
    return fields.flatMap(\.value.variables) + step.url.variables + (profile.baseURL?.variables ?? [])
      + step.body.tellingVariables
  }
}

extension Expression.Variable {
  fileprivate var field: String? {
    accesses.lazy.compactMap { access -> String? in if case .field(let field) = access { field } else { nil } }.first
  }
}

extension BodyRules {
  /// Without the file names of form fields, which rarely say where a server stores something.
  fileprivate var tellingVariables: [Expression.Variable] {
    guard case .multipart(let items) = self else { return variables }
    return items.flatMap { item in
      if case .file(let name, _, _) = item { name.variables } else { item.variables }
    }
  }
}
