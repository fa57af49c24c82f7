import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ManifestWriterTests {
  private static let names: [[UInt8]] = [
    Array("a".utf8), Array("b/c d.bin".utf8), Array("it's \"q\", é".utf8), Array("#x".utf8), Array(" y".utf8),
    Array("back\\slash".utf8), Array("http://looks.like/one".utf8).filter { $0 != 0x2F } + [0x7A], [0xFF, 0xFE],
  ]

  private static func entries(_ digests: Set<DigestAlgorithm>) -> [ManifestEntry] {
    names.enumerated().map { index, name in
      let content = Array("content \(index)".utf8)
      let found = digests.map { RunningDigest.of(content, $0) }.sorted {
        ManifestDigest.isStronger($0.algorithm, $1.algorithm)
      }
      return ManifestEntry(
        location: .relative(NameBytes(name)), path: NameBytes(name), size: Int64(content.count), digests: found,
        mtimeNs: -1, line: 0)
    }
  }

  private static func text(_ form: ManifestWriter.Form, _ entries: [ManifestEntry]) throws -> [UInt8] {
    var writer = ManifestWriter(form)
    var text = writer.beginning
    for entry in entries { text += try writer.line(entry) }
    return text + writer.end
  }

  private static func read(_ text: [UInt8], _ format: ManifestFormat) throws -> [ManifestEntry] {
    var found: [ManifestEntry] = []
    try ManifestReader(format, name: NameBytes("m")).read(text) { entry throws(TransferError) in
      var entry = entry
      entry.line = 0
      found.append(entry)
    }
    return found
  }

  @Test(arguments: [(ManifestWriter.Form.jsonl, ManifestFormat.jsonl), (.csv, .csv)])
  func whatIsWrittenIsReadAgain(_ form: ManifestWriter.Form, _ format: ManifestFormat) throws {
    for digests in [[], [.sha256], [.sha256, .md5, .crc64nvme]] as [Set<DigestAlgorithm>] {
      let entries = Self.entries(digests)
      let text = try Self.text(form, entries)
      #expect(try Self.read(text, format) == entries)
      #expect(ManifestFormat(name: NameBytes("x"), front: text) == format, "it is recognised")
    }
  }

  /// The facts that allow a download from several servers are kept, in a shard as well as in another format.
  @Test(arguments: [(ManifestWriter.Form.jsonl, ManifestFormat.jsonl), (.csv, .csv)])
  func mirrorsPiecesAndTimesAreKept(_ form: ManifestWriter.Form, _ format: ManifestFormat) throws {
    let entry = ManifestEntry(
      location: .urls(["https://a/x", "http://b/y?z=1,2", "https://c/"].map { ManifestURL($0) }),
      path: NameBytes("x"), size: 10, digests: [RunningDigest.of([1], .sha256)],
      pieces: PieceDigests(.sha1, length: 4, bytes: Array(0..<60)), mtimeNs: 1_700_000_000_123_456_789, line: 0)
    #expect(try Self.read(Self.text(form, [entry]), format) == [entry])
    var wrong = entry
    wrong.size = 13
    let text = try Self.text(form, [wrong])
    #expect(throws: TransferError.self) { try Self.read(text, format) }
    wrong.pieces = PieceDigests(.sha1, length: 1, bytes: Array(repeating: 0, count: 1_000_000))
    #expect(throws: TransferError.self, "a line that no reader accepts") { try Self.text(form, [wrong]) }
  }

  /// A time in another format is not a reason to refuse a list.
  @Test func timesInOtherFormsArePassedOver() throws {
    let last = "\"2262-04-11T23:47:16.999Z\"", later = "\"9999-12-31T23:59:59.999Z\""
    for time in ["1700000000", "1.7e9", "\"yesterday\"", "[1]", "null", last, later] {
      let found = try Self.read(Array("{\"path\":\"a\",\"mtime\":\(time)}\n".utf8), .jsonl)
      #expect(found.map(\.mtimeNs) == [nil])
    }
    let found = try Self.read(Array("path,mtime\na,2023-11-14T23:13:20.5+01:00\n".utf8), .csv)
    #expect(found.map(\.mtimeNs) == [1_700_000_000_500_000_000])
  }

  @Test func checksumFilesAndListsKeepTheirPart() throws {
    var entries = Self.entries([.sha256, .md5])
    let sums = try Self.read(Self.text(.sums, entries), .sums)
    for index in entries.indices {
      (entries[index].size, entries[index].mtimeNs) = (nil, nil)
      entries[index].digests = [entries[index].digests[0]]
    }
    #expect(sums == entries, "the strongest digest of each")
    for index in entries.indices { entries[index].digests = [] }
    #expect(try Self.read(Self.text(.list, entries), .list) == entries)
    let nul = try Self.text(.list0, entries).split(separator: 0).map(Array.init)
    #expect(nul == Self.names)
  }

  @Test(arguments: [("a\nb", true, false), ("a\rb", true, false), ("a\tb", false, false), ("a\u{1B}b", false, false)])
  func namesThatAFormCannotHoldAreRefused(_ name: String, _ jsonl: Bool, _ csv: Bool) throws {
    let path = NameBytes(name)
    let entry = ManifestEntry(
      location: .relative(path), path: path, size: 1, digests: [RunningDigest.of([], .sha256)], line: 0)
    for (form, isHeld) in [(ManifestWriter.Form.jsonl, jsonl), (.sums, jsonl), (.csv, csv), (.list, false)] {
      let text = try? Self.text(form, [entry])
      #expect((text != nil) == isHeld, "\(form)")
    }
    #expect(try Self.text(.list0, [entry]) == path.bytes + [0])
    if jsonl { #expect(try Self.read(Self.text(.jsonl, [entry]), .jsonl).first?.path == path) }
  }

  @Test func aFileWithoutADigestHasNoLineInAChecksumFile() throws {
    #expect(throws: TransferError.self) { try Self.text(.sums, Self.entries([.crc32c])) }
  }

  private static let frame = "{\"manifest\":\"transfers.manifest/1\"}\n"
  private static let line = "{\"path\":\"a\",\"size\":7}\n"

  /// Cut between lines, cut within a line, too many lines, an end with different counts, a newer format.
  @Test(arguments: [
    (frame + line, "cut off"),
    (frame + line + line.dropLast(5), "line 3: it is damaged, or the manifest is cut off here"),
    (frame + line + "{\"end\":\"transfers.manifest/1\",\"files\":2,\"bytes\":7}\n", "does not match the listed files"),
    (frame + line + "{\"end\":\"transfers.manifest/1\",\"files\":1,\"bytes\":8}\n", "does not match the listed files"),
    (frame + "{\"end\":\"transfers.manifest/1\",\"files\":0,\"bytes\":0}\n" + line, "after the end"),
    ("{\"manifest\":\"transfers.manifest/2\"}\n", "transfers.manifest/2"),
    ("{\"path\":\"a\",\"path_b64\":\"%\"}\n", "not base64"), ("{\"path_b64\":\"Li4vYQ==\"}\n", "\"..\""),
  ])
  func aFrameThatDoesNotFitIsNamed(_ text: String, _ reason: String) {
    do {
      Issue.record("\(try Self.read(Array(text.utf8), .jsonl))")
    } catch {
      #expect("\(error)".contains(reason), "\(error)")
    }
  }

  @Test func linesWithoutAFrameAreAManifestToo() throws {
    #expect(try Self.read(Array((Self.line + Self.line).utf8), .jsonl).count == 2)
  }
}

@Suite struct ManifestShardsTests {
  /// Sizes from 0 to 2^30, most of them small.
  private static func sizes(_ seed: UInt64, _ count: Int) -> [Int64] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(state >> 33) >> Int64(state >> 59)
    }
  }

  @Test(arguments: [1, 2, 3, 16, 1_000])
  func shardsDifferByNoMoreThanTheLargestFile(_ count: Int) throws {
    let sizes = Self.sizes(UInt64(count), 5_000)
    var (shards, dealt) = (ManifestShards(count, by: .bytes), [Int](repeating: 0, count: count))
    for size in sizes { dealt[shards.take(size: size)] += 1 }
    let loads = shards.loads.map(\.bytes)
    #expect(loads.reduce(0, +) == sizes.reduce(0, +) && shards.loads.map { Int($0.files) } == dealt)
    #expect(try #require(loads.max()) - (try #require(loads.min())) <= (try #require(sizes.max())))
    var once = ManifestShards(count, by: .bytes)
    for size in sizes { _ = once.take(size: size) }
    #expect(once.loads == shards.loads, "the same manifest gives the same shards")
  }

  @Test func filesAreDealtInTurns() {
    var shards = ManifestShards(3, by: .files)
    #expect([9, 1, 1, 1, nil, 5].map { shards.take(size: $0) } == [0, 1, 2, 0, 1, 2])
    var empty = ManifestShards(3, by: .bytes)
    #expect([0, nil, 0, 0].map { empty.take(size: $0) } == [0, 1, 2, 0], "empty files are spread, too")
  }
}
