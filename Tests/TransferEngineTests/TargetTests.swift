import HTTPTypes
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// The local file of a download has a temporary name until it is complete.
@Suite struct TargetTests {
  private let folder: TemporaryFolder
  private var root: String { String(decoding: folder.path.bytes, as: UTF8.self) }
  private let bytes = Array("the whole file".utf8)
  private var names: TargetNames { TargetNames(NameBytes(root + "/a.bin"), below: folder.path, UID(high: 1, low: 2)) }
  private var digest: Digest { RunningDigest.of(bytes, .crc32c) }
  private let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)

  init() throws { folder = try TemporaryFolder() }

  private func target(known: SourceIdentity? = nil, overwrites: Bool = false) -> Target {
    Target(names, known: known ?? nothing, overwrites: overwrites)
  }

  private func filled() throws -> (target: Target, identity: SourceIdentity) {
    let target = target()
    let file = try #require(try target.file(size: Int64(bytes.count), holdsBytes: false))
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    return (target, file.identity)
  }

  private func placing(_ known: SourceIdentity, overwrites: Bool = false) -> Placing {
    target(known: known, overwrites: overwrites).placing(
      size: Int64(bytes.count), digest: digest, modifiedMs: 1_000_000_000_500)
  }

  private func text(_ name: String) throws -> String {
    let file = try SourceFile(path: NameBytes(root + "/" + name))
    var read = [UInt8](repeating: 0, count: Int(file.identity.size))
    try read.withUnsafeMutableBytes { try file.fill($0, at: 0) }
    return String(decoding: read, as: UTF8.self)
  }

  @Test func thePartialNameFitsAndIsBesideTheFinalOne() {
    let long = TargetNames(
      NameBytes("/in/b/" + String(repeating: "x", count: 255)), below: NameBytes("/in"), UID(high: 1, low: 2))
    #expect(long.partial.bytes.count == 255)
    #expect(long.partial != TargetNames(long.final, below: long.root, UID(high: 1, low: 3)).partial.lastComponent)
    #expect(long.folder == NameBytes("b"))
    #expect(names.partial == NameBytes(".a.bin.00000000000000010000000000000002.part"))
  }

  @Test func nothingHasTheNameBeforeAllIsThere() throws {
    let (target, identity) = try filled()
    #expect(access(root + "/a.bin", F_OK) != 0)
    try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: 1_000_000_000_500).perform()
    #expect(try text("a.bin") == "the whole file")
    let placed = try SourceFile(path: names.final).identity
    #expect(placed.inode == identity.inode)
    #expect(placed.mtimeNs == 1_000_000_000_500_000_000)
    #expect(access(root + "/" + names.partial.description, F_OK) != 0)
  }

  /// The file was moved, but the engine ended before it could record that.
  @Test func placingTwiceIsHarmless() throws {
    let (target, identity) = try filled()
    try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    try placing(identity).perform()
    #expect(try text("a.bin") == "the whole file")
  }

  @Test func anotherFileUnderTheNameIsNotTakenForOurs() throws {
    let (target, identity) = try filled()
    try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    rename(root + "/a.bin", root + "/b.bin")
    folder.write(NameBytes("a.bin"), "the whole thing")
    #expect(throws: Placing.partialIsGone) { try placing(identity).perform() }
    unlink(root + "/a.bin")
    #expect(throws: Placing.partialIsGone) { try placing(identity).perform() }
  }

  /// Somebody wrote to the placed file, or the file system reused its inode number for another file of the same length.
  @Test func anotherContentIsNotTakenForOurs() throws {
    let (target, identity) = try filled()
    try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    folder.write(NameBytes("a.bin"), "another file!!")
    #expect(try SourceFile(path: names.final).identity.inode == identity.inode)
    #expect(throws: Placing.partialIsGone) { try placing(identity).perform() }
  }

  /// Another file has taken the name of the open partial file; it must not become the final file.
  @Test func aPartialFileThatWasReplacedIsNotPlaced() throws {
    let (target, _) = try filled()
    rename(root + "/" + names.partial.description, root + "/elsewhere")
    #expect(throws: Placing.partialIsGone) {
      try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    }
    folder.write(names.partial, "another file!!")
    #expect(throws: Placing.partialIsGone) {
      try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    }
    #expect(access(root + "/a.bin", F_OK) != 0)
  }

  @Test func whatHasTheNameIsNotReplacedUnasked() throws {
    let (target, identity) = try filled()
    folder.write(NameBytes("a.bin"), "old")
    #expect(throws: Failure.self) {
      try target.placing(size: Int64(bytes.count), digest: digest, modifiedMs: nil).perform()
    }
    #expect(try text("a.bin") == "old")
    try placing(identity, overwrites: true).perform()
    #expect(try text("a.bin") == "the whole file")
  }

  @Test func aPartialFileOfAnotherLengthIsNotPlaced() throws {
    let (target, _) = try filled()
    #expect(throws: Failure.self) {
      try target.placing(size: Int64(bytes.count) + 1, digest: nil, modifiedMs: nil).perform()
    }
    #expect(access(root + "/a.bin", F_OK) != 0)
  }

  @Test func thePartialFileIsOpenedAgainAndOnlyThatOne() throws {
    let (_, identity) = try filled()
    let again = try #require(try target(known: identity).file(size: 14, holdsBytes: true))
    #expect(again.identity.inode == identity.inode)
    let digest = try again.digests(of: ByteRange(offset: 0, length: 14), [.crc32c], .never)
    #expect(digest[.crc32c] == RunningDigest.of(bytes, .crc32c))
    rename(root + "/" + names.partial.description, root + "/elsewhere")
    #expect(try target(known: identity).file(size: 14, holdsBytes: true) == nil)
    folder.write(names.partial, "somebody else's")
    #expect(try target(known: identity).file(size: 14, holdsBytes: true) == nil)
    symlink("elsewhere", root + "/link")
    rename(root + "/link", root + "/" + names.partial.description)
    #expect(try target(known: identity).file(size: 14, holdsBytes: true) == nil)
  }

  /// An engine ended between creating the file and recording it.
  @Test func aPartialFileThatNobodyKnowsIsMadeAnew() throws {
    let (_, identity) = try filled()
    let made = try #require(try target().file(size: 14, holdsBytes: false))
    #expect(made.identity.inode != identity.inode || made.identity.size == 0)
    #expect(try made.digests(of: ByteRange(offset: 0, length: 0), [.crc32c], .never).count == 1)
  }

  @Test func aRegionTakesItsRangeAndNoMore() throws {
    let target = target()
    let file = try #require(try target.file(size: 20, holdsBytes: false))
    let region = TargetRegion(file, ByteRange(offset: 6, length: 14), .crc32c) { status, _ in
      status == 206
        ? .bytes(from: 6, to: 20) : status == 200 ? .refused(.failed(Failure(.sourceChanged, ""), .permanent)) : .other
    }
    #expect(region.begin(status: 404, fields: [:]) == .success(false))
    #expect(region.begin(status: 200, fields: [:]) == .failure(Failure(.sourceChanged, "")))
    #expect(region.begin(status: 206, fields: [:]) == .success(true))
    bytes[..<4].withUnsafeBytes { #expect(region.write($0) == nil) }
    #expect(region.digest() == nil)
    bytes[4...].withUnsafeBytes { #expect(region.write($0) == nil) }
    #expect(region.settle() == nil)
    #expect(region.digest() == RunningDigest.of(bytes, .crc32c))
    bytes[..<1].withUnsafeBytes { #expect(region.write($0)?.code == .protoBadReply) }
    var read = [UInt8](repeating: 0, count: 14)
    try read.withUnsafeMutableBytes { try file.fill($0, at: 6) }
    #expect(read == bytes)
  }

  /// A body without a length that has more than the file: what is too much is not written.
  @Test func aBodyWithoutAnEndIsEnded() throws {
    let file = try #require(try target().file(size: nil, holdsBytes: false))
    let meaning = Interpretation.failed(Failure(.integrityMismatch, "too long"), .permanent)
    let most = Int64(bytes.count)
    let region = TargetRegion(file, ByteRange(offset: 0, length: 100), .crc32c) { _, _ in
      .bytesToEnd(most: most, meaning)
    }
    #expect(region.begin(status: 200, fields: [:]) == .success(true))
    bytes.withUnsafeBytes { #expect(region.write($0) == nil) }
    #expect(region.refusal == nil)
    bytes[..<1].withUnsafeBytes { #expect(region.write($0)?.code == .integrityMismatch) }
    #expect(region.refusal != nil && region.taken == most && file.identityNow?.size == most)
  }

  /// An answer begins before the requested range: its first bytes are compared with the stored bytes of the chunk, and
  /// not written.
  @Test(arguments: [(from: 0, isSame: true), (from: 4, isSame: true), (from: 4, isSame: false)])
  func whatComesAgainIsComparedAndNotWritten(_ from: Int, _ isSame: Bool) throws {
    let all = Array("another chunk, and the whole file".utf8)
    let file = try #require(try target().file(size: Int64(all.count), holdsBytes: false))
    try all[6..<10].withUnsafeBytes { try file.write($0, at: 6) }
    let region = TargetRegion(
      file, ByteRange(offset: 10, length: Int64(all.count - 10)), stored: ByteRange(offset: 6, length: 4),
      head: RunningDigest.of(Array(all[6..<10]), .crc32c), .crc32c
    ) { _, _ in .bytes(from: Int64(from), to: Int64(all.count)) }
    #expect(region.begin(status: 206, fields: [:]) == .success(true))
    var sent = Array(all[from...])
    if !isSame { sent[9 - from] ^= 1 }
    let failures = stride(from: 0, to: sent.count, by: 7).compactMap { start in
      sent[start..<min(sent.count, start + 7)].withUnsafeBytes { region.write($0) }
    }
    #expect(failures.first?.code == (isSame ? nil : .sourceChanged))
    guard isSame else { return }
    #expect(region.taken == Int64(all.count - 10) && region.digest() == RunningDigest.of(Array(all[6...]), .crc32c))
    var read = [UInt8](repeating: 0, count: all.count - 6)
    try read.withUnsafeMutableBytes { try file.fill($0, at: 6) }
    #expect(read == Array(all[6...]))
    let isUntouched = try [UInt8](repeating: 0, count: 6).withUnsafeBytes { bytes throws(Failure) in
      try file.holds(bytes, at: 0)
    }
    #expect(isUntouched)
  }

  /// The remains of an earlier body may be longer than the next body.
  @Test func aFileOfUnknownSizeBeginsEmpty() throws {
    let (target, _) = try filled()
    let file = try #require(try target.file(size: nil, holdsBytes: false))
    try [UInt8]("new".utf8).withUnsafeBytes { try file.write($0, at: 0) }
    try target.placing(size: 3, digest: nil, modifiedMs: nil).perform()
    #expect(try text("a.bin") == "new")
  }

  @Test func theDigestIsComparedBeforeTheFileHasItsName() throws {
    let (target, _) = try filled()
    let size = Int64(bytes.count)
    let wrong = RunningDigest.of([1], .sha256)
    let placing = target.placing(size: size, digest: nil, modifiedMs: nil, compared: [wrong])
    #expect { try placing.perform() } throws: { ($0 as? Failure)?.code == .integrityMismatch }
    #expect(access(root + "/a.bin", F_OK) != 0)
    let right = [RunningDigest.of(bytes, .sha256), RunningDigest.of(bytes, .crc64nvme)]
    try target.placing(size: size, digest: nil, modifiedMs: nil, compared: right).perform()
    #expect(try text("a.bin") == "the whole file")
  }

  @Test func aFolderThatIsGoneIsAnErrorOfThisMachine() {
    let names = TargetNames(
      NameBytes(root + "/none/a.bin"), below: NameBytes(root + "/none"), UID(high: 1, low: 2))
    let target = Target(names, known: nothing, overwrites: false)
    #expect { try target.file(size: 1, holdsBytes: false) } throws: { ($0 as? Failure)?.code == .localIO }
  }

  private func target(at path: String) -> Target {
    let names = TargetNames(NameBytes(root + "/" + path), below: folder.path, UID(high: 1, low: 2))
    return Target(names, known: nothing, overwrites: true)
  }

  @Test func missingFoldersAreMadeBelowTheTargetFolder() throws {
    let target = target(at: "a/b/c.bin")
    _ = try target.file(size: 0, holdsBytes: false)
    try target.placing(size: 0, digest: nil, modifiedMs: nil).perform()
    #expect(try text("a/b/c.bin") == "")
  }

  /// A server may claim any size for its file.
  @Test func nothingIsTakenOfADiskThatIsTooSmall() throws {
    let file = try #require(try target().file(size: 1, holdsBytes: false))
    for size in [Int64.max / 2, file.freeBytes + 1] {
      #expect { try file.reserve(size) } throws: { ($0 as? Failure)?.code == .localDiskFull }
    }
    var status = stat()
    #expect(fstat(file.descriptor, &status) == 0 && status.st_blocks <= 8)
  }

  /// The beginning of a file comes with the size of all of it.
  @Test func nothingIsTakenOfAFileThatDoesNotFit() throws {
    let file = try #require(try target().file(size: nil, holdsBytes: false))
    let (size, most) = (file.freeBytes + 1, Int64.max / 2)
    for (size, code) in [(size, ENOSPC), (most, EFBIG)] {
      let region = TargetRegion(file, ByteRange(offset: 0, length: 100), .crc32c) { _, _ in
        .bytes(from: 0, to: 10, of: size)
      }
      guard case .failure(let failure) = region.begin(status: 206, fields: [:]) else {
        Issue.record("its beginning was accepted")
        continue
      }
      #expect(failure.code == .localDiskFull && failure.systemError == code)
      #expect(failure.isOfFullDisk == (code == ENOSPC) && file.hasNoData)
    }
  }

  /// Nothing can continue such a body, so it does not keep the room that it took.
  @Test func aBodyWithoutALengthLeavesNothingOnAFullDisk() async {
    await #expect(processExitsWith: .success) {
      let test = try TargetTests()
      let file = try #require(try test.target().file(size: nil, holdsBytes: false))
      let region = TargetRegion(file, ByteRange(offset: 0, length: 100), .crc32c) { _, _ in .bytes(from: 0, to: nil) }
      try #require(region.begin(status: 200, fields: [:]) == .success(true))
      try #require(test.bytes.withUnsafeBytes { region.write($0) } == nil && !file.hasNoData)
      try RefusingKernel.refuse([(.write, ENOSPC)])
      let failure = test.bytes.withUnsafeBytes { region.write($0) }
      try #require(failure?.isOfFullDisk == true && file.hasNoData)
    }
  }

  /// What must stay free is in proportion to the file.
  @Test(arguments: [(0, 1 << 20), (5_000, 1 << 20), (40 << 20, 10 << 20), (1 << 40, 64 << 20)])
  func aSmallFileDemandsLittleRoom(_ size: Int, _ room: Int) {
    #expect(TargetSpace.room(besides: Int64(size)) == Int64(room))
  }

  /// A link by somebody else leads outside, with or without ".." in its target; a link that stays inside is followed.
  @Test(arguments: ["/tmp", "../..", "b/../../.."]) func noLinkLeadsOutOfTheTargetFolder(to place: String) throws {
    mkdir(root + "/b", 0o755)
    symlink(place, root + "/a")
    #expect { try target(at: "a/c.bin").file(size: 0, holdsBytes: false) } throws: { error in
      (error as? Failure)?.message.contains("leads out of the target folder") ?? false
    }
    unlink(root + "/a")
    symlink("b", root + "/a")
    #expect(try target(at: "a/c.bin").file(size: 0, holdsBytes: false) != nil)
    #expect(access(root + "/b/.c.bin.00000000000000010000000000000002.part", F_OK) == 0)
  }

  @Test func noNameLeadsOutOfTheTargetFolder() throws {
    #expect(throws: Failure.self) { try target(at: "../c.bin").file(size: 0, holdsBytes: false) }
    #expect(throws: Failure.self) { try target(at: "a/../../c.bin").file(size: 0, holdsBytes: false) }
  }

  /// A folder is replaced by a link while bytes arrive: an open file stays where it is, and is not placed elsewhere.
  @Test func aFolderThatBecomesALinkIsNotFollowedOutside() throws {
    let target = target(at: "a/c.bin")
    _ = try target.file(size: 0, holdsBytes: false)
    rename(root + "/a", root + "/b")
    symlink("/tmp", root + "/a")
    #expect(throws: Failure.self) { try target.placing(size: 0, digest: nil, modifiedMs: nil).perform() }
    #expect(access("/tmp/c.bin", F_OK) != 0)
  }
}
