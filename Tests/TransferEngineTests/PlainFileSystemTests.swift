import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads to file systems that lack what POSIX or Linux provide for: FAT, CIFS, 9p, and most of those in user space.
@Suite struct PlainFileSystemTests {
  private let folder: TemporaryFolder
  private var root: String { folder.path.description }
  private let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
  private var names: TargetNames { TargetNames(NameBytes(root + "/a"), below: folder.path, UID(high: 1, low: 2)) }

  struct Broken: Error { let what: String }

  init() throws { folder = try TemporaryFolder() }

  private func placing(_ access: FileAccess = FileAccess(), overwrites: Bool = false) throws -> (Target, Placing) {
    let target = Target(names, known: nothing, overwrites: overwrites)
    guard let file = try target.file(size: 5, holdsBytes: false) else { throw Broken(what: "no file") }
    try Array("whole".utf8).withUnsafeBytes { try file.write($0, at: 0) }
    return (target, target.placing(size: 5, digest: nil, modifiedMs: nil, access: access))
  }

  private func size() -> Int {
    var status = stat()
    return stat(root + "/a", &status) == 0 ? Int(status.st_size) : -1
  }

  private func hasNoPartial() -> Bool { access(root + "/" + names.partial.description, F_OK) != 0 }

  /// No exclusive rename, and no hard links.
  @Test(arguments: [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EACCES])
  func aFileGetsItsNameByAPlainRename(_ code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      try RefusingKernel.refuse([(.renameExclusive, EINVAL), (.link, code)])
      let test = try PlainFileSystemTests()
      try test.placing().1.perform()
      guard test.size() == 5, test.hasNoPartial() else { throw Broken(what: "size \(test.size())") }
      let other = try PlainFileSystemTests()
      let late = try other.placing().1
      other.folder.write(NameBytes("a"), "another file")
      do {
        try late.perform()
        throw Broken(what: "it was replaced")
      } catch let failure as Failure {
        guard failure.code == .policyExists, other.size() == 12 else { throw Broken(what: "\(failure)") }
      }
    }
  }

  /// The mount decides who may do what.
  @Test(arguments: [EPERM, EOPNOTSUPP, ENOSYS, EROFS]) func aFileWithoutPermissionsIsPlaced(_ code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      try RefusingKernel.refuse([(.changeMode, code)])
      let test = try PlainFileSystemTests()
      let (target, placing) = try test.placing()
      try placing.perform()
      guard test.size() == 5, target.refusedAccess.withLock({ $0 == nil }) else { throw Broken(what: "a remark") }
      let asked = try PlainFileSystemTests()
      let (other, order) = try asked.placing(FileAccess(mode: 0o640))
      try order.perform()
      let remark = other.refusedAccess.withLock { $0?.message } ?? ""
      guard asked.size() == 5, remark.contains("permissions") else { throw Broken(what: "said: \(remark)") }
    }
  }

  /// It only makes an error known earlier.
  @Test(arguments: [EINVAL, EPERM, EOPNOTSUPP, ENOSYS, ENODEV]) func spaceNeedNotBeAllocated(_ code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      try RefusingKernel.refuse([(.allocate, code)])
      let test = try PlainFileSystemTests()
      try test.placing().1.perform()
      guard test.size() == 5 else { throw Broken(what: "size \(test.size())") }
    }
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG, EIO]) func whatCannotBeStoredIsKnownBeforeItArrives(_ code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      try RefusingKernel.refuse([(.allocate, code)])
      let test = try PlainFileSystemTests()
      do { _ = try test.placing() } catch let failure as Failure {
        guard failure.systemError == code else { throw Broken(what: "\(failure)") }
        return
      }
      throw Broken(what: "it was allocated")
    }
  }

  /// The names in them are as durable as the file system makes them.
  @Test(arguments: [EINVAL, EBADF, EOPNOTSUPP, ENOSYS])
  func aFolderThatCannotBeSyncedIsNoFailure(_ code: Int32) throws {
    let placing = try placing().1
    let syncs = FolderSyncs { _ in
      errno = code
      return -1
    }
    #expect(throws: Never.self) { try PlacingGroup.perform([placing], syncs)[0].get() }
    #expect(size() == 5)
  }
}
