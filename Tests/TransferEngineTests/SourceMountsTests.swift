import Glibc
import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// Whether a missing source was removed or is on a file system that is not mounted, determined by comparing the
/// recorded identities of its folders with the current ones.
@Suite struct SourceMountsTests {
  private let folder: TemporaryFolder
  private let root: String
  private let base: FolderIdentity
  private let home: FolderIdentity

  init() throws {
    folder = try TemporaryFolder()
    root = String(decoding: folder.path.bytes, as: UTF8.self)
    for name in ["/in", "/in/x", "/out"] { mkdir(root + name, 0o700) }
    let places = SourcePlaces(SourceRemoval(.delete, base: root + "/in"))
    base = try #require(places.identity(of: NameBytes("")))
    home = try #require(places.identity(of: NameBytes("x")))
  }

  /// The result of the removal of `in/x/a`, which does not exist.
  private func end(_ base: FolderIdentity?, _ home: FolderIdentity?, isBegun: Bool = false) throws -> RemovalEnd {
    let removal = SourceRemoval(.delete, base: root + "/in")
    let recorded = [NameBytes(root + "/in"): base, NameBytes(root + "/in/x"): home]
    let remover = SourceRemover(
      removal: removal, marker: nil, places: SourcePlaces(removal), content: { _ in SentContent() },
      folder: { recorded[$0] ?? nil }, isDue: { _ in true }, stop: .never)
    let identity = SourceIdentity(
      size: 4, mtimeNs: 1, ctimeNs: 1, inode: 99, device: home?.device ?? 0, boot: home?.boot ?? 0)
    return try remover.remove(
      DueRemoval(
        file: FileID(rawValue: 1), batch: BatchID(rawValue: 1), path: NameBytes(root + "/in/x/a"), identity: identity,
        isBegun: isBegun, confirmation: .digest, isByHand: false, isLost: false))
  }

  private func isGone(_ base: FolderIdentity?, _ home: FolderIdentity?) throws -> Bool {
    switch (try end(base, home), try end(base, home, isBegun: true)) {
    case (.kept(.sourceMissing, _), .gone): true
    case (.putOff(.sourceMissing, _), .putOff(.sourceMissing, _)): false
    case (let first, let second): throw Surprise("\(first), \(second)")
    }
  }

  private struct Surprise: Error { init(_ text: String) { Issue.record("\(text)") } }

  private func changed(_ folder: FolderIdentity, _ change: (inout FolderIdentity) -> Void) -> FolderIdentity {
    var other = folder
    change(&other)
    return other
  }

  /// The device has another number after a restart of the machine, and after a remount of the file system.
  @Test(arguments: [true, false]) func aFolderWithAnotherDeviceNumberIsThere(_ isRestarted: Bool) throws {
    let renumber: (inout FolderIdentity) -> Void = {
      $0.device += 7
      if isRestarted { $0.boot += 1 }
    }
    #expect(try isGone(changed(base, renumber), changed(home, renumber)))
  }

  /// The mount point of a file system below the folder of all sources, which is on another device.
  @Test(arguments: [true, false]) func anEmptyMountPointIsNotTheFolder(_ isRestarted: Bool) throws {
    let mounted = changed(home) {
      $0.device += 7
      $0.inode = 2
      if isRestarted { $0.boot += 1 }
    }
    let below = isRestarted ? changed(base) { $0.boot += 1 } : base
    #expect(try !isGone(below, mounted))
    #expect(try !isGone(below, changed(mounted) { ($0.inode, $0.bornNs) = (home.inode, 1) }))
    rmdir(root + "/in/x")
    #expect(try !isGone(below, mounted))
  }

  /// The folder was removed or recreated: a folder above it shows that their file system is mounted.
  @Test(arguments: [true, false]) func aFolderThatWasRemovedIsGone(_ isRestarted: Bool) throws {
    let recorded = [base, home].map { folder in
      changed(folder) {
        if isRestarted { ($0.device, $0.boot) = ($0.device + 7, $0.boot + 1) }
      }
    }
    rename(root + "/in/x", root + "/in/old")
    #expect(try isGone(recorded[0], recorded[1]))
    mkdir(root + "/in/x", 0o700)
    #expect(try isGone(recorded[0], recorded[1]))
  }

  /// Without birth times only the inode is compared. Within one boot, a folder with a birth time and one without are on
  /// different file systems.
  @Test func withoutBirthTimesTheInodeCounts() throws {
    let unborn = changed(home) { ($0.bornNs, $0.device) = (nil, $0.device + 7) }
    #expect(try isGone(nil, changed(unborn) { $0.boot += 1 }))
    #expect(try !isGone(nil, changed(unborn) { ($0.boot, $0.inode) = ($0.boot + 1, $0.inode + 1) }))
    #expect(try isGone(nil, unborn) == (home.bornNs == nil))
  }

  @Test func withoutARecordNothingIsSaid() throws { #expect(try !isGone(base, nil)) }

  /// The page has more folders than are kept open at a time.
  @Test func allFoldersOfAPageAreRecorded() throws {
    var page = AdmissionPage()
    for number in 0..<1_500 {
      mkdir(root + "/in/\(number)", 0o700)
      let path = NameBytes(root + "/in/\(number)/a")
      let identity = SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1)
      path.bytes.withUnsafeBytes { page.append(path: $0, key: $0, identity, mode: 0o600) }
    }
    let places = SourcePlaces(SourceRemoval(.delete, base: root + "/in"))
    let found = places.folders(of: page)
    #expect(found.count == 1_501)
    #expect(places.open.count <= SourcePlaces.openAtMost + 2)
    #expect(found[NameBytes(root + "/in")] == base)
  }
}
