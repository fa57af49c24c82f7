import TransferModel

/// What a probe of the session says.
extension ProfileJudge {
  func probed() throws -> Verdict {
    let verdict = try found()
    guard notes.wantsProbe else { return verdict }
    return .noted([SessionNotes.probe: ""], verdict)
  }

  private func found() throws -> Verdict {
    let have = rules.have
    if let done = have.done, try done.holds(reader, scope, earlier: []) {
      return .noted([SessionNotes.complete: "1"], .offset(facts.layout.size))
    }
    if let offset = have.offset { return beginning(try number(offset)) }
    if let next = have.next {
      let (number, base) = (try number(next), Int64(proto.profile.chunk.numberBase))
      guard number >= base, number - base <= facts.layout.count else { return beyond("chunk \(number)") }
      return beginning(min(facts.layout.size, (number - base) * facts.layout.chunkSize))
    }
    if let missing = have.missing { return try ranges(missing) }
    if let numbers = have.numbers { return try listed(numbers) }
    return beginning(0)
  }

  private func number(_ extraction: Extraction) throws -> Int64 {
    guard let value = try extraction.value(in: reader, scope), let number = try? value.integer() else {
      throw Extraction.Fault(message: "the answer has no \(extraction.place)")
    }
    return number
  }

  /// The server holds the first bytes, and nothing else.
  private func beginning(_ offset: Int64) -> Verdict {
    guard (0...facts.layout.size).contains(offset) else { return beyond("\(offset) bytes") }
    return leadsOn(offset) ? .offset(offset) : sessionGone(unreachable(offset))
  }

  private func beyond(_ what: String) -> Verdict {
    .failed(
      Failure(.protoOffset, "the server claims \(what) of a file that has \(facts.layout.size) bytes"), .permanent)
  }

  // MARK: - Ranges and numbers

  private func ranges(_ extraction: Extraction) throws -> Verdict {
    try readable(extraction)
    var missing: [Range<Int64>] = []
    for value in try texts(extraction) {
      guard let range = Self.range(value, size: facts.layout.size) else {
        throw Extraction.Fault(message: "\(extraction.place) of the answer is no range of bytes")
      }
      missing.append(range)
    }
    guard proto.profile.chunk.mode == .parallel else {
      return beginning(missing.map(\.lowerBound).min() ?? facts.layout.size)
    }
    let whole = (0..<facts.layout.count).filter { seq in
      let range = facts.layout.range(seq)
      return !missing.contains { $0.overlaps(range.offset..<range.end) }
    }
    return .partsListed(whole.map(part), next: nil)
  }

  /// `26-` or `0-25`, both ends inclusive.
  private static func range(_ text: String, size: Int64) -> Range<Int64>? {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let start = Int64(ends[0]), start >= 0, start <= size else { return nil }
    if ends[1].isEmpty { return start..<max(size, start) }
    guard let last = Int64(ends[1]), last >= start, last < Int64.max else { return nil }
    return start..<min(size, last + 1)
  }

  private func listed(_ extraction: Extraction) throws -> Verdict {
    try readable(extraction)
    var known: Set<Int> = []
    for value in try extraction.values(in: reader).flatMap(\.elements) {
      guard let number = try? value.integer() else {
        throw Extraction.Fault(message: "\(extraction.place) of the answer is no list of numbers")
      }
      known.insert(Int(clamping: number) - proto.profile.chunk.numberBase)
    }
    guard proto.profile.chunk.mode == .parallel else {
      let first = (0..<facts.layout.count).first { !known.contains($0) } ?? facts.layout.count
      return beginning(min(facts.layout.size, Int64(first) * facts.layout.chunkSize))
    }
    return .partsListed((0..<facts.layout.count).filter(known.contains).map(part), next: nil)
  }

  private func part(_ seq: Int) -> ListedPart {
    ListedPart(seq: seq, length: facts.layout.range(seq).length, etag: "")
  }

  private func texts(_ extraction: Extraction) throws -> [String] {
    try extraction.values(in: reader).flatMap(\.elements).map { value in
      guard let text = try? value.text() else {
        throw Extraction.Fault(message: "\(extraction.place) of the answer is no text")
      }
      return text
    }
  }

  /// An unreadable answer is not one that says "nothing".
  private func readable(_ extraction: Extraction) throws {
    if let fault = reader.documentFault(extraction.source) { throw Extraction.Fault(message: fault) }
  }
}

extension TemplateValue {
  /// Those of a list, or itself.
  fileprivate var elements: [TemplateValue] {
    if case .list(let values) = self { values } else { [self] }
  }
}
