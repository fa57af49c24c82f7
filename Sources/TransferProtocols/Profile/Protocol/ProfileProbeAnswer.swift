import TransferModel

/// The meaning of an answer to a probe of the session.
struct ProfileProbeAnswer: ProfileAnswerPart {
  let answer: ProfileAnswer

  func probed(_ values: ExtractedValues) throws -> Interpretation {
    let meaning = try found(values)
    guard notes.wantsProbe else { return meaning }
    return meaning.with(notes: [SessionNotes.probe: ""])
  }

  private func found(_ values: ExtractedValues) throws -> Interpretation {
    let have = rules.have
    if let done = have.done, try checks.claims(done) {
      return .offset(facts.layout.size).with(notes: [SessionNotes.complete: "1"])
    }
    if let offset = have.offset { return beginning(try number(offset), values) }
    if let next = have.next {
      let (number, base) = (try number(next), Int64(proto.profile.chunk.numberBase))
      guard number >= base, number - base <= facts.layout.count else { return beyond("chunk \(number)") }
      return beginning(start(of: Int(number - base)), values)
    }
    if let missing = have.missing { return try ranges(missing, values) }
    if let numbers = have.numbers { return try listed(numbers, values) }
    return beginning(0, values)
  }

  /// The start of a chunk, counted from 0; after the last one, the end of the file.
  private func start(of seq: Int) -> Int64 {
    seq < facts.layout.count ? facts.layout.range(seq).offset : facts.layout.size
  }

  private func number(_ extraction: Extraction) throws -> Int64 {
    guard let value = try extraction.value(in: reader, scope), let number = try? value.integer() else {
      throw Extraction.Fault(message: "the answer has no \(extraction.place)")
    }
    return number
  }

  /// The server has the first bytes, and no others.
  private func beginning(_ offset: Int64, _ values: ExtractedValues) -> Interpretation {
    guard (0...facts.layout.size).contains(offset) else { return beyond("\(offset) bytes") }
    guard offset == facts.layout.size else {
      return chunks.leadsOn(offset) ? .offset(offset) : refusals.sessionGone(chunks.unreachable(offset))
    }
    let last = facts.layout.count - 1
    let chunk = ChunkFacts(seq: last, range: facts.layout.range(last))
    return answer.lacksRequired(values, [.result], of: chunk) ? unsaidResult(chunk) : .offset(offset)
  }

  /// Everything is stored, but a value that the next steps need was in a lost answer.
  private func unsaidResult(_ chunk: ChunkFacts) -> Interpretation {
    switch proto.profile.onAmbiguousLast {
    case .resend where proto.profile.chunk.isIdempotent: .offset(chunk.range.offset)
    case .resend, .fail: refusals.unknown(ProfileAnswer.unsaid, .chunk)
    case .probe: .failed(ProfileAnswer.unsaid, .probe)
    case .commitAnyway: .offset(facts.layout.size)
    case .restart: refusals.sessionGone(ProfileAnswer.unsaid)
    }
  }

  private func beyond(_ what: String) -> Interpretation {
    .failed(
      Failure(.protoOffset, "the server claims \(what) of a file that has \(facts.layout.size) bytes"), .permanent)
  }

  // MARK: - Ranges and numbers

  private func ranges(_ extraction: Extraction, _ values: ExtractedValues) throws -> Interpretation {
    var missing: [Range<Int64>] = []
    // Only a list that exists and is empty means that everything is stored.
    for value in try extraction.elements(in: reader, isStrict: true) {
      guard let text = try? value.text(), let range = Self.range(text, size: facts.layout.size) else {
        throw Extraction.Fault(message: "\(extraction.place) of the answer is not a range of bytes")
      }
      missing.append(range)
    }
    guard proto.profile.chunk.mode == .parallel else {
      return beginning(missing.map(\.lowerBound).min() ?? facts.layout.size, values)
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

  private func listed(_ extraction: Extraction, _ values: ExtractedValues) throws -> Interpretation {
    let base = proto.profile.chunk.numberBase
    var known: Set<Int> = []
    for value in try extraction.elements(in: reader, isStrict: false) {
      guard let number = try? value.integer() else {
        throw Extraction.Fault(message: "\(extraction.place) of the answer is not a list of numbers")
      }
      if let number = Int(exactly: number), number >= base { known.insert(number - base) }
    }
    guard proto.profile.chunk.mode == .parallel else {
      let first = (0..<facts.layout.count).first { !known.contains($0) } ?? facts.layout.count
      return beginning(start(of: first), values)
    }
    return .partsListed((0..<facts.layout.count).filter(known.contains).map(part), next: nil)
  }

  private func part(_ seq: Int) -> ListedPart {
    ListedPart(seq: seq, length: facts.layout.range(seq).length, etag: "")
  }
}
