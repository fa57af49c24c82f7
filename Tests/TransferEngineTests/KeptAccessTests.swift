import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Permissions and owner that a server has stored with a file, and those that are stored there.
@Suite struct KeptAccessTests {
  private let folder: TemporaryFolder
  private var root: String { String(decoding: folder.path.bytes, as: UTF8.self) }

  init() throws { folder = try TemporaryFolder() }

  /// Places a file; returns its status, and what was said about its owner.
  private func placed(_ access: FileAccess) throws -> (status: stat, refused: Failure?) {
    let names = TargetNames(NameBytes(root + "/a"), below: folder.path, UID(high: 1, low: 2))
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let target = Target(names, known: nothing, overwrites: true)
    let file = try #require(try target.file(size: 1, holdsBytes: false))
    try [UInt8(7)].withUnsafeBytes { try file.write($0, at: 0) }
    try target.placing(size: 1, digest: nil, modifiedMs: nil, access: access).perform()
    var status = stat()
    #expect(stat(root + "/a", &status) == 0)
    return (status, target.refusedAccess.withLock { $0 })
  }

  @Test(arguments: [0o640, 0o777, 0o400, 0] as [UInt32])
  func aFileGetsItsPermissions(_ mode: UInt32) throws {
    #expect(try placed(FileAccess(mode: mode)).status.st_mode & 0o7777 == mode)
  }

  /// Whoever may write the object could otherwise choose whose rights a program gets.
  @Test(arguments: [0o4755, 0o2755, 0o1777, 0o107777] as [UInt32])
  func noFileGetsTheRightsOfItsOwner(_ mode: UInt32) throws {
    #expect(try placed(FileAccess(mode: mode)).status.st_mode & 0o7777 == mode & 0o777)
  }

  /// Only root may give files away; for others the refusal is reported, and the file is placed with its permissions.
  @Test func aFileGetsItsOwnerIfThatIsPermitted() throws {
    let (status, refused) = try placed(FileAccess(mode: 0o600, owner: 54_321, group: 54_322))
    #expect(status.st_mode & 0o7777 == 0o600)
    if refused == nil {
      #expect(geteuid() == 0 && status.st_uid == 54_321 && status.st_gid == 54_322)
    } else {
      #expect(status.st_uid == geteuid() && refused?.message.contains("owner") == true)
    }
    let own = try placed(FileAccess(owner: geteuid(), group: getegid()))
    #expect(own.refused == nil && own.status.st_uid == geteuid() && own.status.st_gid == getegid())
  }

  @Test func withoutAnyTheUsualPermissionsApply() throws {
    let mask = umask(0)
    umask(mask)
    #expect(try placed(FileAccess()).status.st_mode & 0o7777 == 0o666 & ~mask)
  }

  private func mode(_ name: NameBytes) -> UInt32 {
    var status = stat()
    return name.withCString { stat($0, &status) } == 0 ? status.st_mode & 0o7777 : .max
  }

  private func order(_ known: SourceIdentity, _ mode: UInt32) -> Placing {
    let names = TargetNames(NameBytes(root + "/a"), below: folder.path, UID(high: 1, low: 2))
    return Target(names, known: known, overwrites: true).placing(
      size: 1, digest: RunningDigest.of([7], .sha256), modifiedMs: nil, access: FileAccess(mode: mode))
  }

  /// A complete partial file that was closed.
  private func finished(_ names: TargetNames, _ mode: UInt32) throws -> SourceIdentity {
    let file = try TargetFile(making: names)
    try [UInt8(7)].withUnsafeBytes { try file.write($0, at: 0) }
    #expect(fchmod(file.descriptor, mode) == 0)
    return file.identity
  }

  /// The engine was killed after a file had got its permissions, before or after it got its name. Root may open all
  /// files; for others the permissions forbid it.
  @Test(arguments: [0o444, 0o200, 0] as [UInt32])
  func aFileThatItsOwnerMayNotOpenIsPlacedAfterAKill(_ mode: UInt32) throws {
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let names = order(nothing, mode).names
    let known = try finished(names, mode)
    for _ in 1...2 {
      #expect(try order(known, mode).perform() != nil)
      #expect(self.mode(names.final) == mode)
    }
  }

  @Test func onlyTheKnownFileGetsMorePermissions() throws {
    let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let names = order(nothing, 0).names
    let path = NameBytes(root + "/").appending(names.partial)
    let file = try TargetFile(making: names)
    #expect(fchmod(file.descriptor, 0o044) == 0)
    let opened = try #require(try TargetFolder(of: names))
    #expect(!opened.permit(0o600, for: names.partial, nothing) && mode(path) == 0o044)
    #expect(opened.permit(0o600, for: names.partial, file.identity) && mode(path) == 0o644)
    #expect(opened.permit(0o600, for: names.name, file.identity) == false)
  }

  // MARK: - Uploads

  private func properties(_ rules: ObjectRules) throws -> [String: String]? {
    let path = root + "/source"
    close(open(path, O_WRONLY | O_CREAT, 0o600))
    return Array(path.utf8).withUnsafeBytes { path in
      Array("source".utf8).withUnsafeBytes { rules.properties(of: path, $0, mode: 0o104750)?.values }
    }
  }

  @Test func anObjectGetsTheMetadataThatIsAskedFor() throws {
    #expect(try properties(ObjectRules()) == nil)
    #expect(try properties(ObjectRules(keepsMode: true)) == ["header.x-amz-meta-mode": "100750"])
    #expect(
      try properties(ObjectRules(keepsOwner: true))
        == ["header.x-amz-meta-uid": "\(geteuid())", "header.x-amz-meta-gid": "\(getegid())"])
  }

  @Test func aRuleComesFirst() throws {
    let rule = ObjectRule(pattern: "**", setting: .header("x-amz-meta-mode"), value: "100600")
    #expect(try properties(ObjectRules([rule], keepsMode: true)) == ["header.x-amz-meta-mode": "100600"])
  }
}
