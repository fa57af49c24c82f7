import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Which chunks of the version to be fetched a local file still has.
@Suite struct ReusingTests {
  private let folder: TemporaryFolder
  private let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
  private let layout = ChunkLayout(size: 1_000, chunkSize: 300)
  private var root: String { String(decoding: folder.path.bytes, as: UTF8.self) }
  private var path: String { root + "/a.bin" }

  init() throws {
    folder = try TemporaryFolder()
    try write(bytes)
  }

  private func write(_ bytes: [UInt8]) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  private var target: Target {
    Target(
      TargetNames(NameBytes(path), below: folder.path, UID(high: 1, low: 2)),
      known: SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0), overwrites: true)
  }

  private func past(_ proof: Digest? = nil, isSuspect: Bool = false) throws -> PastDownload {
    let identity = try SourceFile(path: NameBytes(path)).identity
    return PastDownload(
      id: FileID(rawValue: 1), identity: identity, session: SessionFacts(remoteID: "v", intendedAtMs: 0),
      layout: layout,
      proof: FileProof(confirmation: .digest, digest: proof ?? RunningDigest.of(bytes, .sha256)), isSuspect: isSuspect)
  }

  private func chunks(_ seqs: [Int] = [0, 1, 2, 3]) -> [PastChunk] {
    seqs.map { seq in
      let range = layout.range(seq)
      let part = bytes[Int(range.offset)..<Int(range.end)]
      return PastChunk(seq: seq, range: range, digest: RunningDigest.of(Array(part), .crc32c))
    }
  }

  private func names() -> [String] {
    var found: [String] = []
    guard let list = opendir(root) else { return [] }
    defer { closedir(list) }
    while let entry = readdir(list) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { found.append(name) }
    }
    return found.sorted()
  }

  /// A file that was not written to since is not even read: here, its recorded digests are wrong.
  @Test func whatNobodyTouchedIsNotRead() throws {
    let wrong = try past(RunningDigest.of([1], .sha256))
    let found = try Reusing(target: target, past: wrong, holdsBytes: false, chunks: chunks()).perform()
    #expect(found.whole == wrong.identity && found.parts.map(\.seq) == [0, 1, 2, 3])
    #expect(names() == ["a.bin"])
  }

  @Test func whatWasFoundChangedIsRead() throws {
    let suspect = try past(isSuspect: true)
    #expect(try Reusing(target: target, past: suspect, holdsBytes: false, chunks: chunks()).perform().whole != nil)
    // All chunks match, but the digest of the whole file does not: the copy is checked again when it is placed.
    let wrong = try past(RunningDigest.of([1], .sha256), isSuspect: true)
    #expect(try Reusing(target: target, past: wrong, holdsBytes: false, chunks: chunks()).perform().whole == nil)
  }

  @Test(arguments: [(0, [1, 2, 3]), (299, [1, 2, 3]), (300, [0, 2, 3]), (999, [0, 1, 2])])
  func intactChunksAreCopied(_ offset: Int, _ intact: [Int]) throws {
    let past = try past()
    var changed = bytes
    changed[offset] ^= 1
    try write(changed)
    let target = target
    let found = try Reusing(target: target, past: past, holdsBytes: false, chunks: chunks()).perform()
    #expect(found.whole == nil && found.parts.map(\.seq) == intact)
    #expect(names().count == 2)
    let partial = try #require(try target.file(size: 1_000, holdsBytes: true))
    #expect(found.partial?.isSameFile(as: partial.identity) == true)
    for seq in intact {
      let range = layout.range(seq)
      let part = Array(bytes[Int(range.offset)..<Int(range.end)])
      #expect(try part.withUnsafeBytes { try partial.holds($0, at: range.offset) }, "\(seq)")
    }
  }

  @Test func ofAFileThatIsShorterTheBeginningIsCopied() throws {
    let past = try past()
    #expect(truncate(path, 650) == 0)
    let found = try Reusing(target: target, past: past, holdsBytes: false, chunks: chunks()).perform()
    #expect(found.whole == nil && found.parts.map(\.seq) == [0, 1])
  }

  /// Part of the file was fetched already, so the local file is not kept as it is, whatever its content.
  @Test func whatIsPartlyFetchedIsGoneOnWith() throws {
    let found = try Reusing(target: target, past: past(), holdsBytes: false, chunks: chunks([1, 2, 3])).perform()
    #expect(found.whole == nil && found.parts.map(\.seq) == [1, 2, 3])
  }

  @Test func whatIsNoFileHasNothing() throws {
    let past = try past()
    #expect(unlink(path) == 0)
    #expect(symlink("/etc/passwd", path) == 0)
    let found = try Reusing(target: target, past: past, holdsBytes: false, chunks: chunks()).perform()
    #expect(found.parts.isEmpty && found.whole == nil)
  }

  /// A partial file was left by a run that was killed before it could record it.
  @Test func nothingIsLeftBesideAFileThatStays() throws {
    _ = try target.file(size: 1_000, holdsBytes: false)
    #expect(names().count == 2)
    _ = try Reusing(target: target, past: past(), holdsBytes: false, chunks: chunks()).perform()
    #expect(names() == ["a.bin"])
  }

  @Test func aStopEndsTheReading() throws {
    let suspect = try past(isSuspect: true)
    let stop = ReadStop { true }
    #expect {
      try Reusing(target: target, past: suspect, holdsBytes: false, chunks: chunks(), stop: stop).perform()
    } throws: {
      ($0 as? Failure)?.code == .engineInterrupted
    }
  }
}
