import Testing
import TransferModel
import TransferProtocols
import TransferTestSupport

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Who may do what with a downloaded file, if its server says nothing about that: what its folder, or the file that it
/// replaces, provides for. Nobody gets more than that.
@Suite struct PlacedAccessTests {
  private let folder: TemporaryFolder
  private var root: String { folder.path.description }
  private let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)

  init() throws { try self.init(in: temporaryRoot) }

  private init(in root: String) throws { folder = try TemporaryFolder(in: root) }

  private func place(_ name: String = "a", overwrites: Bool = true) throws {
    let names = TargetNames(NameBytes("\(root)/\(name)"), below: folder.path, UID(high: 1, low: 2))
    let target = Target(names, known: nothing, overwrites: overwrites)
    let file = try #require(try target.file(size: 1, holdsBytes: false))
    try [UInt8(7)].withUnsafeBytes { try file.write($0, at: 0) }
    try target.placing(size: 1, digest: nil, modifiedMs: nil).perform()
  }

  private func status(_ name: String = "a") -> stat {
    var status = stat()
    #expect(stat("\(root)/\(name)", &status) == 0)
    return status
  }

  private func mode(_ name: String = "a") -> UInt32 { status(name).st_mode & 0o7777 }

  private func old(_ mode: UInt32) {
    folder.write(NameBytes("a"), "old")
    #expect(chmod("\(root)/a", mode) == 0)
  }

  // MARK: - A new file

  /// The umask does not apply then (acl(5)).
  @Test(.enabled(if: ACL.isSupported), arguments: [Rights.team, .secret, .plain])
  func aNewFileIsWhatItsFolderMakesOfIt(_ rights: Rights) throws {
    try #require(ACL.set(rights.entries, root, ACL.ofNewFiles))
    try place(overwrites: false)
    close(open("\(root)/b", O_WRONLY | O_CREAT, 0o666))
    #expect(mode() == mode("b") && ACL.get("\(root)/a") == ACL.get("\(root)/b"))
    #expect(mode() & 0o7 == 0)
  }

  struct Rights: Sendable {
    var entries: [ACL.Entry]
    static let owner = ACL.Entry(.owner, 6), nobody = ACL.Entry(.others, 0)
    static let team = Rights(
      entries: [owner, ACL.Entry(.group, 6), ACL.Entry(.groupOf(54_321), 6), ACL.Entry(.mask, 6), nobody])
    static let secret = Rights(entries: [owner, ACL.Entry(.group, 0), nobody])
    static let plain = Rights(entries: [owner, ACL.Entry(.group, 4), nobody])
  }

  // MARK: - A replaced file

  @Test(arguments: [0o600, 0o400, 0o640, 0o664, 0o755, 0o200, 0o4755] as [UInt32])
  func aReplacedFileKeepsItsPermissions(_ mode: UInt32) throws {
    old(mode)
    try place()
    #expect(self.mode() == mode & 0o777 && status().st_size == 1)
  }

  /// Also after a kill, when it has its name already.
  @Test func itKeepsThemWhenItIsPlacedAgain() throws {
    old(0o200)
    let names = TargetNames(NameBytes("\(root)/a"), below: folder.path, UID(high: 1, low: 2))
    let known = try { () throws -> SourceIdentity in
      let file = try TargetFile(making: names)
      try [UInt8(7)].withUnsafeBytes { try file.write($0, at: 0) }
      return file.identity
    }()
    let digest = RunningDigest.of([7], .sha256)
    for _ in 1...2 {
      let target = Target(names, known: known, overwrites: true)
      #expect(try target.placing(size: 1, digest: digest, modifiedMs: nil).perform() != nil)
      #expect(mode() == 0o200)
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func aReplacedFileKeepsItsOwner() throws {
    old(0o640)
    #expect(chown("\(root)/a", 54_321, 54_322) == 0)
    try place()
    #expect(status().st_uid == 54_321 && status().st_gid == 54_322 && mode() == 0o640)
  }

  /// The group of another owner, and all others, may do only what both might do before.
  @Test(.enabled(if: geteuid() == 0), arguments: [(0o644, 0o644), (0o640, 0o600), (0o604, 0o600), (0o664, 0o644)])
  func nobodyGainsFromAnOwnerThatCannotBeKept(_ before: Int, _ after: Int) async {
    await #expect(processExitsWith: .success) { [before, after] in
      // Other users cannot look into a private TMPDIR.
      let test = try PlacedAccessTests(in: "/tmp")
      test.old(UInt32(before))
      chmod(test.root, 0o777)
      defer { _ = seteuid(0) }
      guard setgroups(0, nil) == 0, setegid(54_321) == 0, seteuid(54_321) == 0 else { throw Broken(what: "seteuid") }
      try test.place()
      guard test.mode() == UInt32(after), test.status().st_uid == 54_321 else {
        throw Broken(what: "mode \(String(test.mode(), radix: 8))")
      }
    }
  }

  struct Broken: Error { let what: String }

  @Test(.enabled(if: ACL.isSupported)) func aReplacedFileKeepsItsACL() throws {
    old(0o600)
    let entries = [Rights.owner, ACL.Entry(.user(54_321), 4), ACL.Entry(.group, 0), ACL.Entry(.mask, 4), Rights.nobody]
    try #require(ACL.set(entries, "\(root)/a", ACL.ofFile))
    let before = try #require(ACL.get("\(root)/a"))
    try place()
    #expect(ACL.get("\(root)/a") == before && mode() == 0o640)
  }

  /// The folder gives new files an ACL, but the file is older.
  @Test(.enabled(if: ACL.isSupported)) func aReplacedFileWithoutAnACLGetsNone() throws {
    old(0o640)
    try #require(ACL.set(Rights.team.entries, root, ACL.ofNewFiles))
    try place()
    #expect(ACL.get("\(root)/a") == nil && mode() == 0o640)
  }
}

/// POSIX ACLs as the kernel stores them. Source: <linux/posix_acl_xattr.h>, version 2.
enum ACL {
  static let ofFile = "system.posix_acl_access"
  static let ofNewFiles = "system.posix_acl_default"

  enum Who: Sendable { case owner, user(UInt32), group, groupOf(UInt32), mask, others }

  struct Entry: Sendable {
    var who: Who
    var rights: UInt16
    init(_ who: Who, _ rights: UInt16) { (self.who, self.rights) = (who, rights) }

    fileprivate var bytes: [UInt8] {
      let (tag, id): (UInt16, UInt32) =
        switch who {
        case .owner: (1, .max)
        case .user(let id): (2, id)
        case .group: (4, .max)
        case .groupOf(let id): (8, id)
        case .mask: (16, .max)
        case .others: (32, .max)
        }
      return little(tag) + little(rights) + little(id)
    }
  }

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  // Swift's module of glibc does not have <sys/xattr.h>.
  private typealias Text = UnsafePointer<CChar>
  private typealias Set = @convention(c) (Text, Text, UnsafeRawPointer, Int, Int32) -> Int32
  private typealias Get = @convention(c) (Text, Text, UnsafeMutableRawPointer, Int) -> Int

  static func set(_ entries: [Entry], _ path: String, _ name: String) -> Bool {
    let call = unsafeBitCast(dlsym(nil, "setxattr"), to: Set.self)
    let bytes = little(UInt32(2)) + entries.flatMap(\.bytes)
    return bytes.withUnsafeBytes { call(path, name, $0.baseAddress!, bytes.count, 0) } == 0
  }

  /// Whether the file system of temporary folders has ACLs.
  static let isSupported: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return set([Entry(.owner, 7), Entry(.group, 0), Entry(.others, 0)], folder.path.description, ofNewFiles)
  }()

  /// nil if the file has none beside its permissions.
  static func get(_ path: String) -> [UInt8]? {
    let call = unsafeBitCast(dlsym(nil, "getxattr"), to: Get.self)
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = bytes.withUnsafeMutableBytes { call(path, ofFile, $0.baseAddress!, 1_024) }
    return count < 0 ? nil : Array(bytes[..<count])
  }
}
