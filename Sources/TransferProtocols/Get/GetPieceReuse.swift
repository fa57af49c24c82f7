public import TransferModel

/// Digests of pieces show what an existing file has of the version to be fetched, whoever wrote it. It is compared
/// after the first answer, which identifies the version: what it has is copied, and only the other pieces are fetched.
extension GetProtocol {
  /// The note for a new session whether an existing file is to be compared.
  func notesOfPieces(
    _ version: RemoteVersion, received: Int64, _ expected: ExpectedContent, _ context: RequestContext
  ) -> [String: String] {
    guard context.holdsPast, received < version.size, version.hasRanges(expected),
      expected.pieces?.covers(version.size) == true
    else { return [:] }
    return PieceNotes.wanted
  }

  /// The range that the first request asks for: short if most of the file may be here already.
  func firstRange(_ facts: TransferFacts, _ context: RequestContext) -> ByteRange {
    let usual = beginning(facts)
    let expected = facts.file.expected
    guard context.holdsPast, expected.pieces != nil, usual.length < expected.size ?? .max else { return usual }
    return ByteRange(offset: 0, length: min(usual.length, Self.shortBeginning))
  }
}

extension TransferFacts {
  /// The existing file is compared with digests of pieces now, and not with what an earlier download recorded.
  public var comparesPieces: Bool {
    guard PieceNotes.areWanted(session), let version = RemoteVersion(session) else { return false }
    return isReused || PastVersion(self)?.isSame(as: version) != true
  }

  /// The partial file has pieces of an existing file, even if no byte of the file is acknowledged.
  public var holdsCopies: Bool { PieceNotes.areCopied(session) }

  /// The partial file has something of the file, which is lost if that file no longer exists.
  public var holdsBytes: Bool { acked > 0 || holdsCopies }
}

/// Notes of a session about the comparison of an existing file with digests of pieces.
public enum PieceNotes {
  private static let key = "pieces"
  private static let isWanted = "wanted", isCompared = "compared", isCopied = "copied"

  static let wanted = [key: isWanted]
  /// It has none of them.
  public static let compared = [key: isCompared]
  /// Some were copied.
  public static let copied = [key: isCopied]

  static func areWanted(_ session: SessionFacts?) -> Bool { session?.notes[key] == isWanted }

  static func areCopied(_ session: SessionFacts?) -> Bool { session?.notes[key] == isCopied }
}

extension MissingRanges {
  /// The stored form if the file has digests of pieces: the numbers of those that the ranges touch.
  public func notes(in pieces: PieceDigests) -> [String: String] {
    let touched = ranges.flatMap { Int($0.offset / pieces.length)...Int(($0.end - 1) / pieces.length) }
    return MissingPieces.notes(Set(touched), reused: reused)
  }
}
