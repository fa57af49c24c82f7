import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// The kernel reports a lost write once and then treats its pages as written (fsync(2)): the next sync succeeds.
@Suite struct LostWriteTests {
  private let folder: TemporaryFolder
  private var root: String { folder.path.description }
  private var names: TargetNames { TargetNames(NameBytes(root + "/a.bin"), below: folder.path, UID(high: 1, low: 2)) }
  private let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)

  init() throws { folder = try TemporaryFolder() }

  private func isThere(_ name: String) -> Bool { access(root + "/" + name, F_OK) == 0 }

  private func filled(_ syncs: FileSyncs) throws -> (target: Target, file: TargetFile) {
    let target = Target(names, known: nothing, overwrites: false, syncs)
    let file = try #require(try target.file(size: nil, holdsBytes: false))
    try Array("whole".utf8).withUnsafeBytes { try file.write($0, at: 0) }
    return (target, file)
  }

  @Test func everySyncAfterOneThatFailedFails() throws {
    let (_, file) = try filled(.telling(EIO, at: 1))
    for _ in 0..<2 {
      #expect { try file.sync() } throws: {
        ($0 as? Failure)?.isLostWrite == true && ($0 as? Failure)?.code == .localIO
      }
    }
    #expect { try file.syncAll() } throws: { ($0 as? Failure)?.isLostWrite == true }
  }

  /// Not even after an engine that ended before it could record the failure.
  @Test func noEngineGoesOnWithAFileThatIsLost() throws {
    let (_, file) = try filled(.telling(ENOSPC, at: 1))
    #expect { try file.sync() } throws: { ($0 as? Failure)?.code == .localDiskFull }
    #expect(!isThere(names.partial.description))
    let later = Target(names, known: file.identity, overwrites: false)
    #expect(try later.file(size: 5, holdsBytes: true) == nil)
    let anew = try #require(try later.file(size: nil, holdsBytes: false))
    #expect(!anew.identity.isSameFile(as: file.identity))
  }

  @Test func aSyncThatWasInterruptedIsRepeated() throws {
    let (_, file) = try filled(.telling(EINTR, at: 1))
    try file.sync()
    #expect(isThere(names.partial.description))
  }

  @Test func whatCannotBeSyncedGetsNoName() throws {
    let (target, _) = try filled(.telling(EIO, at: 1))
    let placing = target.placing(size: 5, digest: nil, modifiedMs: nil)
    for _ in 0..<2 { #expect(throws: Failure.self) { try placing.perform() } }
    #expect(!isThere("a.bin") && !isThere(names.partial.description))
  }

  /// The sync of its folder failed. Another sync would not report that again, but a new rename has to be written.
  @Test func aNameThatMayNotBeOnTheDiskIsGivenAgain() throws {
    let (target, file) = try filled(.system)
    let watch = inotify_init1(Int32(IN_NONBLOCK))
    defer { close(watch) }
    #expect(inotify_add_watch(watch, root, UInt32(IN_MOVED_TO)) >= 0)
    var movesBefore = 0
    let failing = FolderSyncs { _ in
      movesBefore += Self.names(watch).count
      errno = EIO
      return -1
    }
    let placing = target.placing(
      size: 5, digest: RunningDigest.of(Array("whole".utf8), .crc32c), modifiedMs: nil)
    #expect(throws: Failure.self) { try PlacingGroup.perform([placing], failing)[0].get() }
    #expect(movesBefore == 1)
    #expect(Self.names(watch).last == "a.bin")
    #expect(try SourceFile(path: names.final).identity.isSameFile(as: file.identity))
    #expect(!isThere(names.partial.description))
  }

  /// The names in the events that arrived.
  private static func names(_ watch: Int32) -> [String] {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = max(0, read(watch, &buffer, buffer.count))
    var (names, at): ([String], Int) = ([], 0)
    // Source: inotify(7), struct inotify_event.
    while at + 16 <= count {
      let length = Int(buffer[at + 12]) | Int(buffer[at + 13]) << 8
      names.append(String(decoding: buffer[(at + 16)..<(at + 16 + length)].prefix { $0 != 0 }, as: UTF8.self))
      at += 16 + length
    }
    return names
  }

  /// A file of somebody else, whatever its content: it is not reused, and stays.
  @Test func aStandingFileThatCannotBeSyncedIsNotTaken() throws {
    let bytes = Array("whole".utf8)
    folder.write(NameBytes("a.bin"), "whole")
    let (crc, sha) = (RunningDigest.of(bytes, .crc32c), RunningDigest.of(bytes, .sha256))
    let past = PastDownload(
      id: FileID(rawValue: 1), identity: nothing, session: SessionFacts(remoteID: "v", intendedAtMs: 0),
      layout: ChunkLayout(whole: 5), proof: FileProof(confirmation: .digest, digest: sha), isSuspect: true)
    let chunks = [PastChunk(seq: 0, range: ByteRange(offset: 0, length: 5), digest: crc)]
    let target = Target(names, known: nothing, overwrites: true, .telling(EIO, at: 1))
    let found = try Reusing(target: target, past: past, holdsBytes: false, chunks: chunks).perform()
    #expect(found.whole == nil && found.partial != nil)
    #expect(isThere("a.bin"))
  }
}

extension FileSyncs {
  /// The call with this number fails; all others succeed, as they do after a lost write.
  static func telling(_ code: Int32, at number: Int) -> FileSyncs {
    let calls = Lock(0)
    let call: Call = { descriptor in
      let count = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard count == number else { return fsync(descriptor) }
      errno = code
      return -1
    }
    return FileSyncs(data: call, all: call)
  }
}
