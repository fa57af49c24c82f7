import HTTPTypes
import TransferModel

/// Published checksums of blocks (`URL.zsync`). They are requested after the first answer, which identifies the
/// version, and only for a file that replaces an existing one. Without them all of the file is fetched: what is wrong
/// with them never fails the file.
extension GetProtocol: PublishedTables {
  package func longestTable(in step: StepRequest, _ facts: TransferFacts) -> Int64? {
    step == .probe(marker: BlockNotes.marker) && !facts.file.key.isFolder ? Self.longestTable(facts.layout.size) : nil
  }

  /// The note for a new session whether they are to be requested.
  func notesOfBlocks(
    _ version: RemoteVersion, received: Int64, _ facts: TransferFacts, _ context: RequestContext
  ) -> [String: String] {
    let expected = facts.file.expected
    guard usesZsync, context.holdsPast, received < version.size, version.hasRanges(expected), expected.pieces == nil,
      expected.mirrors.isEmpty
    else { return [:] }
    return BlockNotes.wanted(facts.session)
  }

  func wantsBlocks(_ facts: TransferFacts) -> Bool {
    usesZsync && !facts.isReused && !facts.learned.refusesBlocks && BlockNotes.areWanted(facts.session)
  }

  /// Redirects are not followed: where a mirror has the file, its checksums are rarely beside it.
  func blocksRequest(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    var asked = facts
    asked.file.key = Self.keyOfBlocks(facts.file.key, isURL: !source.sendsWhatIsStored)
    asked.route = Route()
    var request = try source.request(.whole, asked, context)
    request.limits = .body
    request.limits.maxReplyBytes = Int(Self.longestTable(facts.layout.size))
    // A server that sends less is not waited for: the file itself would take as long.
    request.limits.totalMs = 60_000 + Int64(request.limits.maxReplyBytes) * 1_000 / Self.leastRate
    return request
  }

  /// Bytes per second.
  private static let leastRate: Int64 = 32 << 10

  /// A query of a URL stays behind the path.
  static func keyOfBlocks(_ key: NameBytes, isURL: Bool) -> NameBytes {
    let path = isURL ? key.bytes.prefix { $0 != 0x3F } : key.bytes[...]
    return NameBytes(Array(path) + Array(".zsync".utf8) + key.bytes[path.endIndex...])
  }

  /// In bytes. Blocks are 1 KiB or longer in practice, so a longer answer is worth no more than the file.
  private static func longestTable(_ size: Int64) -> Int64 { min(ZsyncReader.longestFile, size / 32 + 64 << 10) }
}

/// Notes of a session about published checksums of blocks.
public enum BlockNotes {
  private static let key = "zsync", digestKey = "zsync.sha1"
  private static let isWanted = "wanted", isAgain = "again", isUnused = "unused", isCopied = "copied"
  /// The marker of the query for them.
  static let marker = "zsync"

  /// They are to be requested, unless they failed for this file before.
  static func wanted(_ session: SessionFacts?) -> [String: String] {
    session?.notes[key] == nil ? [key: isWanted] : [:]
  }

  static func areWanted(_ session: SessionFacts?) -> Bool {
    session?.notes[key] == isWanted || areWantedAgain(session)
  }

  /// They were requested once, and the server may answer later.
  static func areWantedAgain(_ session: SessionFacts?) -> Bool { session?.notes[key] == isAgain }

  static let again = [key: isAgain]

  static let unused = [key: isUnused]

  /// Blocks were copied from an existing file: the complete file is compared with the published digest.
  public static func copied(_ blocks: PublishedBlocks) -> [String: String] {
    [key: isCopied, digestKey: blocks.digest.description]
  }

  /// No block was found.
  public static let nothing = unused

  static func digest(_ session: SessionFacts?) -> Digest? {
    session?.notes[digestKey].flatMap { Digest(text: $0) }
  }

  /// The notes of a new session after the complete file was wrong, perhaps because of copied blocks: all of it is
  /// fetched. nil if no blocks were copied.
  static func renewal(_ session: SessionFacts?) -> [String: String]? {
    session?.notes[key] == isCopied ? unused : nil
  }
}
