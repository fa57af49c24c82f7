import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads that are placed together.
@Suite struct PlacingGroupTests {
  private let folder: TemporaryFolder
  private var root: String { folder.path.description }

  init() throws { folder = try TemporaryFolder() }

  private func placing(_ path: String, number: UInt64) throws -> Placing {
    let names = TargetNames(NameBytes(root + "/" + path), below: folder.path, UID(high: 1, low: number))
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let target = Target(names, known: nothing, overwrites: false)
    let file = try #require(try target.file(size: nil, holdsBytes: false))
    try Array("whole".utf8).withUnsafeBytes { try file.write($0, at: 0) }
    return target.placing(size: 5, digest: nil, modifiedMs: 1_000_000_000_500)
  }

  private func isThere(_ path: String) -> Bool { access(root + "/" + path, F_OK) == 0 }

  @Test func eachFolderIsSyncedOnceAndAfterAllOfItsNames() throws {
    let paths = ["a/b/1", "a/b/2", "a/c/3", "4", "a/b/5"]
    let placings = try paths.enumerated().map { try placing($1, number: UInt64($0)) }
    var synced: [UInt64] = []
    let results = PlacingGroup.perform(
      placings,
      FolderSyncs { descriptor in
        #expect(paths.allSatisfy(isThere))
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        synced.append(UInt64(status.st_ino))
        return fsync(descriptor)
      })
    for (path, result) in zip(paths, results) {
      let placed = try #require(try result.get().identity, "\(path)")
      #expect(placed == (try SourceFile(path: NameBytes(root + "/" + path)).identity))
      #expect(placed.mtimeNs == 1_000_000_000_500_000_000)
    }
    let folders = ["", "a", "a/b", "a/c"].map { path in
      var status = stat()
      #expect(stat(root + "/" + path, &status) == 0)
      return UInt64(status.st_ino)
    }
    #expect(synced.count == 4)
    #expect(Set(synced) == Set(folders))
  }

  @Test func whatFailsForOneDoesNotKeepTheOthers() throws {
    let placings = try ["1", "2", "3", "4"].enumerated().map { try placing($1, number: UInt64($0)) }
    folder.write(NameBytes("2"), "old")
    unlink(root + "/" + placings[2].names.partial.description)
    let results = PlacingGroup.perform(placings)
    #expect(throws: Never.self) { try results[0].get() }
    #expect { try results[1].get() } throws: { ($0 as? Failure)?.code == .policyExists }
    #expect(throws: Placing.partialIsGone) { try results[2].get() }
    #expect(throws: Never.self) { try results[3].get() }
    #expect(isThere("1") && !isThere("3") && isThere("4"))
    #expect(try SourceFile(path: NameBytes(root + "/2")).identity.size == 3)
  }

  /// The kernel reports a lost write once; the next sync succeeds (fsync(2)).
  @Test func aFolderThatCannotBeSyncedFailsAllOfItsFiles() throws {
    let placings = try ["a/1", "b/2", "a/3"].enumerated().map { try placing($1, number: UInt64($0)) }
    var broken = stat()
    #expect(stat(root + "/a", &broken) == 0)
    var told = false
    let results = PlacingGroup.perform(
      placings,
      FolderSyncs { descriptor in
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        guard status.st_ino == broken.st_ino, !told else { return 0 }
        told = true
        errno = EIO
        return -1
      })
    #expect { try results[0].get() } throws: { ($0 as? Failure)?.code == .localIO }
    #expect(throws: Never.self) { try results[1].get() }
    #expect { try results[2].get() } throws: { ($0 as? Failure)?.code == .localIO }
  }

  /// One file was moved already, but the engine ended before it could record that.
  @Test func whatHasItsNameAlreadyIsPlacedWithTheOthers() throws {
    var placings = try ["1", "2"].enumerated().map { try placing($1, number: UInt64($0)) }
    try placings[0].perform()
    placings[0].file = nil
    var syncs = 0
    let results = PlacingGroup.perform(
      placings,
      FolderSyncs { _ in
        syncs += 1
        return 0
      })
    for result in results { #expect(throws: Never.self) { try result.get() } }
    #expect(syncs == 1)
  }

  /// A receipt has no SHA-256 of what somebody may have written to the file after it got its name.
  @Test func onlyWhatIsProvenToBeWhatWasReceivedHasASHA256() throws {
    var placing = try placing("1", number: 1)
    placing.recordsSHA256 = true
    let sum = RunningDigest.of(Array("whole".utf8), .sha256)
    #expect(try PlacingGroup.perform([placing])[0].get().sha256 == sum)
    // The engine ended before it could record that.
    placing.file = nil
    placing.digest = RunningDigest.of(Array("whole".utf8), .crc32c)
    #expect(try PlacingGroup.perform([placing])[0].get().sha256 == sum)
    placing.digest = nil
    let descriptor = open(root + "/1", O_WRONLY)
    #expect(pwrite(descriptor, "other", 5, 0) == 5)
    close(descriptor)
    #expect(try PlacingGroup.perform([placing])[0].get().sha256 == nil)
  }
}
