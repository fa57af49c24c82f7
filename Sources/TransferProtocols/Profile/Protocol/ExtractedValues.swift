/// The values that a step of a profile extracts from an answer, by where they are kept.
struct ExtractedValues {
  /// Limit for stored texts from a server: they go into each request and into the ledger.
  private static let longestText = 64 << 10
  /// The same for texts stored with each chunk, of which there may be thousands.
  private static let longestOfPart = 8 << 10

  /// For the session row, by the names of ``SessionNotes``.
  private(set) var notes: [String: String] = [:]
  /// For the chunk row.
  private(set) var part: [String: String] = [:]
  /// In memory only.
  private(set) var secrets: [String: String] = [:]

  init() {}

  /// - Throws: ``Extraction/Fault`` if a required value is missing or malformed.
  init(all targets: [ExtractTarget], _ reader: ReplyReader, _ scope: ProfileScope) throws {
    for target in targets {
      if let value = try target.extraction.value(in: reader, scope) { try keep(value, target) }
    }
  }

  /// The values that can be extracted.
  init(_ targets: [ExtractTarget], _ reader: ReplyReader, _ scope: ProfileScope) {
    for target in targets {
      if let value = try? target.extraction.value(in: reader, scope) { try? keep(value, target) }
    }
  }

  private mutating func keep(_ value: TemplateValue, _ target: ExtractTarget) throws(Extraction.Fault) {
    let text = StoredValue.text(value)
    let most = target.scope == .part ? Self.longestOfPart : Self.longestText
    guard text.utf8.count <= most else {
      throw Extraction.Fault(message: "\(target.extraction.place) of the answer is longer than \(most >> 10) KiB")
    }
    switch target.scope {
    case .session: notes[SessionNotes.session(target.name)] = text
    case .result: notes[SessionNotes.result(target.name)] = text
    case .part: part[target.name] = text
    case .secret: secrets[target.name] = (try? value.text()) ?? ""
    }
  }
}
