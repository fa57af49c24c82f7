import Testing
import TransferModel

@testable import TransferProtocols

/// What is missing of a chunk of which a local file had parts.
@Suite struct MissingRangesTests {
  private func missing(_ found: [ClosedRange<Int64>], acked: Int64 = 0) -> MissingRanges {
    let chunk = IncompleteChunk(seq: 1, range: ByteRange(offset: 100_000, length: 100_000), acked: acked)
    return MissingRanges(
      of: chunk, without: found.map { ByteRange(offset: $0.lowerBound, length: $0.upperBound - $0.lowerBound) })
  }

  private func texts(_ missing: MissingRanges) -> [String] { missing.ranges.map { "\($0.offset)-\($0.end)" } }

  private func facts(_ notes: [String: String]) -> MissingRanges? {
    MissingRanges(ChunkFacts(seq: 1, range: ByteRange(offset: 100_000, length: 100_000), remote: notes))
  }

  @Test func whatIsNotFoundIsMissing() {
    #expect(texts(missing([])) == ["100000-200000"] && missing([]).isAll)
    #expect(texts(missing([100_000...200_000])) == [] && missing([100_000...200_000]).reused == 100_000)
    #expect(texts(missing([100_000...150_000])) == ["150000-200000"])
    #expect(texts(missing([150_000...200_000])) == ["100000-150000"])
    let two = missing([120_000...140_000, 160_000...170_000])
    #expect(texts(two) == ["100000-120000", "140000-160000", "170000-200000"] && two.reused == 30_000)
  }

  /// Bytes that were fetched before are neither missing nor reused.
  @Test func fetchedBytesAreNotMissing() {
    let rest = missing([110_000...150_000], acked: 20_000)
    #expect(texts(rest) == ["150000-200000"] && rest.reused == 30_000)
    #expect(missing([100_000...110_000], acked: 20_000).isAll)
  }

  /// A short gap between two missing ranges is fetched with them, and does not count as reused.
  @Test func shortGapsAreFetched() {
    let joined = missing([100_000...120_000, 121_000...125_000, 126_000...200_000])
    #expect(texts(joined) == ["120000-126000"] && joined.reused == 94_000)
    // Only a short part was found between long missing ones.
    #expect(missing([150_000...151_000]).isAll)
  }

  /// However many ranges are missing, their number is bounded.
  @Test func theNumberOfRangesIsBounded() {
    let chunk = IncompleteChunk(seq: 0, range: ByteRange(offset: 0, length: 64 << 20), acked: 0)
    let found = (0..<3_000).map { ByteRange(offset: Int64($0) * 20_000 + 1, length: 10_000) }
    let missing = MissingRanges(of: chunk, without: found)
    #expect(!missing.ranges.isEmpty && missing.ranges.count <= 1_000)
    #expect(missing.reused == (64 << 20) - missing.ranges.reduce(0) { $0 + $1.length })
  }

  /// Copied pieces are lost with the partial file, too, although none of their bytes is acknowledged.
  @Test func copiedPiecesCountAsBytesOfTheFile() {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 100))
    facts.session = SessionFacts(remoteID: "v", intendedAtMs: 0, notes: PieceNotes.compared)
    #expect(!facts.holdsBytes)
    facts.session?.notes = PieceNotes.copied
    #expect(facts.holdsBytes)
    facts.session = nil
    facts.acked = 1
    #expect(facts.holdsBytes)
  }

  @Test func notesAreReadBack() {
    let two = missing([120_000...140_000])
    #expect(facts(two.notes) == two)
    #expect(facts([:]) == nil)
    #expect(facts(["missing": "", "reused": "1"]) == nil)
    // Notes that do not belong to the chunk are not used.
    for text in [
      "5+10", "199999+2", "100000+0", "100000+-1", "100000", "100000+9223372036854775807", "a+b", "100000+5 5+10",
      "100000+500 100400+10",
    ] {
      #expect(facts(["missing": text, "reused": "1"]) == nil, "\(text)")
    }
  }

  @Test func whatIsStoredIsNoLongerMissing() {
    let two = missing([120_000...140_000])
    #expect(texts(two.without(ByteRange(offset: 100_000, length: 5_000))) == ["105000-120000", "140000-200000"])
    let last = two.without(ByteRange(offset: 100_000, length: 20_000))
    #expect(texts(last) == ["140000-200000"] && last.reused == 20_000)
    #expect(last.without(ByteRange(offset: 140_000, length: 60_000)).isEmpty)
    #expect(two.without(ByteRange(offset: 150_000, length: 50_000)) == two)
  }

  private func proto() throws -> GetProtocol {
    var download = DownloadSettings(folder: NameBytes("/in"), overwrites: true)
    download.usesZsync = true
    let made = try AllProtocols.make(
      BatchSettings(destination: "http://h/", download: download), credentialsRegion: nil)
    return try #require(made as? GetProtocol)
  }

  private func facts(size: Int64?) -> TransferFacts {
    var file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: size ?? 0, mtimeMs: 0)
    file.expected = ExpectedContent(size: size, digests: [])
    return TransferFacts(file: file, layout: ChunkLayout(whole: size ?? 0))
  }

  /// A file that is known to be short comes with the first request: comparing it would cost more.
  @Test func knownShortFilesAreFetchedAtOnce() throws {
    let proto = try proto()
    #expect(proto.beginning(facts(size: nil)).length == 4 << 10)
    #expect(proto.beginning(facts(size: (1 << 20) + 1)).length == 4 << 10)
    #expect(proto.beginning(facts(size: 1 << 20)).length == 1 << 20)
  }

  /// A long table may take a while, and one that does not arrive is not waited for.
  @Test func theRequestForChecksumsIsLimited() throws {
    let context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
    func limits(_ size: Int64) throws -> RequestLimits {
      try proto().request(.probe(marker: "zsync"), facts(size: size), context).limits
    }
    let (short, long) = (try limits(1 << 20), try limits(1 << 40))
    #expect(short.stallMs == 60_000 && short.totalMs < 70_000)
    #expect(long.maxReplyBytes == 32 << 20 && long.totalMs == 60_000 + 1_024_000)
  }

  /// A `.zsync` file is beside the path of its file.
  @Test func theChecksumsAreBesideTheFile() {
    func key(_ text: String, isURL: Bool = true) -> String {
      GetProtocol.keyOfBlocks(NameBytes(text), isURL: isURL).description
    }
    #expect(key("a/b.iso") == "a/b.iso.zsync" && key("a/b.iso?x=1?2") == "a/b.iso.zsync?x=1?2")
    #expect(key("a/b?c", isURL: false) == "a/b?c.zsync")
  }
}
