import Receiver
import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files that were downloaded and are checked again later.
@Suite struct VerifyTests {
  private let scene: Scene

  /// Six files: `d/f0` … `d/f5`.
  init() throws {
    scene = try Scene()
    for folder in ["kept/up", "kept/up/d"] { mkdir("\(scene.root)/\(folder)", 0o700) }
    for n in 0..<6 { try Scene.write(Array("file \(n)".utf8), to: NameBytes("\(scene.root)/kept/up/d/f\(n)")) }
    var options = DownloadOptions(urls: (0..<6).map { "d/f\($0)" }, folder: NameBytes("\(scene.root)/in"))
    options.baseURL = scene.url + "/up"
    _ = try TransferStore(at: scene.storePath).add(options)
    #expect(try scene.run().done == 6)
  }

  private func path(_ n: Int) -> NameBytes { NameBytes("\(scene.root)/in/d/f\(n)") }

  private func verify(_ share: FileShare = .all, repairs: Bool = false) throws -> (
    result: VerifyResult, found: [String]
  ) {
    var found: [String] = []
    let result = try TransferStore(at: scene.storePath).verify(RowFilter(), share, repairs: repairs) { file, finding in
      if case .success(let finding) = finding { found.append("\(file.path.lastComponent) \(finding.outcome)") }
    }
    return (result, found.filter { !$0.hasSuffix("intact") })
  }

  private func findings(_ n: Int) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT coalesce(finding, 'proof') FROM receipt JOIN file ON id = file_id WHERE CAST(path AS TEXT) LIKE '%/f\(n)' ORDER BY file_id, n"
    ) { $0.text(0) }
  }

  private func spoil() throws {
    try Scene.write(Array("file X".utf8), to: path(1))
    try Scene.write(Array("longer than it was".utf8), to: path(2))
    #expect(unlink(path(3).description) == 0)
    #expect(unlink(path(4).description) == 0)
    #expect(symlink("f5", "\(scene.root)/in/d/f4") == 0)
  }

  @Test func whatChangedOrIsMissingIsFoundAndRecorded() throws {
    #expect(try verify().result.intact == 6)
    try spoil()
    let (result, found) = try verify()
    #expect(found == ["f1 changed", "f2 changed", "f3 missing", "f4 missing"])
    #expect((result.intact, result.changed, result.missing) == (2, 2, 2))
    #expect(try findings(0) == ["proof", "intact", "intact"])
    #expect(try findings(1) == ["proof", "intact", "changed"])
    #expect(try findings(3) == ["proof", "intact", "missing"])
  }

  @Test func aRepairFetchesThemAgainAndOnlyThem() throws {
    try spoil()
    #expect(try verify(repairs: true).result.requeued == 4)
    // A symbolic link is not replaced.
    #expect(unlink(path(4).description) == 0)
    #expect(try scene.run().done == 4)
    for n in 0..<6 { #expect(try Scene.read(path(n)) == Array("file \(n)".utf8)) }
    let again = try verify()
    #expect(again.result.intact == 6 && again.result.files == 6)
    #expect(try findings(1) == ["proof", "changed", "proof", "intact"])
  }

  @Test func sharesTogetherAreAllFiles() throws {
    let shares = try (1...4).map { try verify(#require(FileShare($0, of: 4))).result.files }
    #expect(shares.reduce(0, +) == 6 && shares.allSatisfy { $0 <= 2 })
    #expect(FileShare(0, of: 4) == nil && FileShare(5, of: 4) == nil)
  }

  /// Its disk may not be mounted: nothing is recorded about its files.
  @Test func ofATargetFolderThatIsNotThereNothingIsSaid() throws {
    #expect(rename("\(scene.root)/in", "\(scene.root)/elsewhere") == 0)
    #expect(try verify(repairs: true).result == VerifyResult(unreadable: 6))
    #expect(try findings(0) == ["proof"])
  }

  /// The folder that held them is now a file.
  @Test func whatHasNoFolderIsMissing() throws {
    #expect(rename("\(scene.root)/in/d", "\(scene.root)/in/e") == 0)
    try Scene.write([1], to: NameBytes("\(scene.root)/in/d"))
    #expect(try verify().result.missing == 6)
  }

  /// A newer download of the file failed: what was fetched before is still compared.
  @Test func aRepairThatFailsIsNotForgotten() throws {
    try spoil()
    #expect(rename("\(scene.root)/kept/up/d", "\(scene.root)/kept/up/e") == 0)
    #expect(try verify(repairs: true).result.requeued == 4)
    #expect(try scene.run().failed == 4)
    #expect(try verify().result.changed == 2)
    #expect(try verify(repairs: true).result.requeued == 4)
    #expect(rename("\(scene.root)/kept/up/e", "\(scene.root)/kept/up/d") == 0)
    // A symbolic link is not replaced.
    #expect(unlink(path(4).description) == 0)
    #expect(try scene.run().done == 4)
    #expect(try verify().result.intact == 6)
  }

  @Test func aLedgerWithFindingsIsSound() throws {
    try spoil()
    _ = try verify()
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  /// A digest does not confirm a corrupted file.
  @Test func aFindingConfirmsOnlyWhatIsIntact() throws {
    try spoil()
    _ = try verify()
    let confirmed = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT finding || ' ' || confirmation FROM receipt WHERE n = 2 ORDER BY file_id"
    ) { $0.text(0) }
    #expect(
      confirmed == ["intact digest", "changed none", "changed none", "missing none", "missing none", "intact digest"])
  }

  /// A parent folder now leads out of the target folder: the files there are not ours.
  @Test func noLinkIsFollowedOutside() throws {
    #expect(rename("\(scene.root)/in/d", "\(scene.root)/d") == 0)
    #expect(symlink("../d", "\(scene.root)/in/d") == 0)
    #expect(try verify().result.unreadable == 6)
    #expect(try findings(0) == ["proof"])
  }
}
