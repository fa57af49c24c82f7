import HTTPTypes
import TransferModel

/// Content codings (RFC 9110 section 8.4) of files that servers compress although `identity` was requested. The first
/// such answer is refused before a byte of it is stored. Then files whose names end in the same way are requested in
/// one body, from which the engine removes the coding. Lengths, ranges and digests in such answers are those of the
/// coded body, and prove nothing about the file; that it is complete is shown by the end of the compressed data.
extension GetProtocol {
  /// Codings whose data shows where it ends. That of `deflate` is sent in two forms, one of which has no checksum.
  private static let removable: Set<String> = ["gzip", "x-gzip"]
  private static let mostCodedKinds = 64

  /// The body of an answer with these fields is not what the file consists of.
  func isCoded(_ fields: HTTPFields, _ facts: TransferFacts) -> Bool {
    guard let coding = fields[.contentEncoding], !source.sendsWhatIsStored else { return false }
    return coding.lowercased() != "identity" && !kind(of: facts).isStored(in: coding)
  }

  /// Whether the coding of such an answer can be removed.
  func isRemovable(_ fields: HTTPFields) -> Bool {
    Self.removable.contains((fields[.contentEncoding] ?? "").lowercased())
  }

  /// Whether the file is requested in one body, without its codings.
  func removesCodings(_ facts: TransferFacts, _ learned: LearnedFacts) -> Bool {
    let kind = kind(of: facts)
    return !kind.mayBeCompressed && learned.codedKinds.contains(kind.ending)
  }

  /// The length of the file in an answer with all of it; nil if that is not known.
  func length(_ fields: HTTPFields, _ facts: TransferFacts) -> Int64? {
    isCoded(fields, facts) ? nil : Self.length(fields)
  }

  /// An answer that cannot be used as it is.
  func unaskedCoding(_ fields: HTTPFields, _ step: StepRequest, _ facts: TransferFacts) -> Interpretation {
    let coding = fields[.contentEncoding] ?? ""
    let failure = Failure(.protoBadReply, "the server sent the file in the coding \(printable(coding)), unasked")
    let (kind, isPart) = (kind(of: facts), step.chunk?.isPart(of: facts) ?? false)
    var learned = facts.learned
    guard !isPart, isRemovable(fields), !kind.mayBeCompressed,
      learned.codedKinds.count < Self.mostCodedKinds, learned.codedKinds.insert(kind.ending).inserted
    else { return .failed(failure, .permanent) }
    return .failed(failure, .repair).with(learned: learned)
  }

  /// The meaning of a body that was requested before anything was known of its coding, which was therefore left; nil
  /// for other bodies.
  func leftCoding(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    guard isCoded(reply.fields, facts), !removesCodings(facts, context.learnedWhenSent ?? context.learned) else {
      return nil
    }
    return .failed(Failure(.protoBadReply, "the body was requested with its coding"), .retry(isThrottled: false))
  }
}

extension GetPart {
  /// The whole file is wanted, not a range of it.
  var isWhole: Bool {
    switch self {
    case .beginning(let range): range == nil
    case .whole: true
    case .range, .description, .firstPart, .partList: false
    }
  }
}
