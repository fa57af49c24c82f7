import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// What is found in a file that grows, and copied of it while others write to it.
@Suite struct GrowingFileTests {
  private let folder: TemporaryFolder
  private let path: NameBytes
  private let copies: StagedCopies

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path.appending(NameBytes("app.log"))
    copies = StagedCopies(storePath: try #require(folder.path.utf8) + "/l.db")
  }

  private func write(_ text: String, at offset: Int? = nil, flags: Int32 = O_CREAT) throws {
    let file = path.withCString { open($0, O_WRONLY | flags, 0o600) }
    try #require(file >= 0)
    defer { close(file) }
    if let offset { lseek(file, off_t(offset), SEEK_SET) } else { lseek(file, 0, SEEK_END) }
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
  }

  private func opened(_ known: KnownGrowth = KnownGrowth()) throws -> GrowingFile {
    GrowingFile(try SourceFile(path: path), at: path, key: NameBytes("app.log"), known)
  }

  /// What the ledger knows when the present content is recorded, of which the last part begins at `start`.
  private func recorded(from start: Int64 = 0) throws -> KnownGrowth {
    let hold = try copies.hold()
    defer { withExtendedLifetime(hold) {} }
    let growing = try opened()
    let whole = try #require(try growing.copy(try growing.growth(), to: copies))
    let size = growing.file.identity.size
    let last = try growing.file.digests(of: ByteRange(offset: start, length: size - start), [.sha256], .never)
    var known = KnownGrowth()
    known.candidates = [
      GrowingSeries(
        id: 1, key: NameBytes("app.log"), number: 1, path: path, start: start, identity: growing.file.identity,
        digest: try #require(last[.sha256]), head: whole.head)
    ]
    known.number = 1
    return known
  }

  /// 1 MiB must stay free, and there are 4 bytes more.
  @Test func aSegmentThatDoesNotFitIsNotBegun() throws {
    try write("12345")
    let store = try #require(folder.path.utf8) + "/l.db"
    let small = StagedCopies(storePath: store) { _ in (1 << 20) + 4 }
    let hold = try small.hold()
    defer { withExtendedLifetime(hold) {} }
    let growing = try opened()
    let failure = #expect(throws: Failure.self) { try growing.copy(try growing.growth(), to: small) }
    #expect(failure?.code == .localDiskFull && failure?.isOfOneCopy == true)
    #expect(rmdir(store + ".staged") == 0, "it is not empty")
  }

  private func found(_ known: KnownGrowth) throws -> String {
    switch try opened(known).growth() {
    case .empty: "empty"
    case .unchanged: "unchanged"
    case .grown(let series): "grown from \(series.end)"
    case .begun(let number, let why): "\(why.rawValue) after \(number)"
    }
  }

  @Test func onlyWhatWasAppendedIsFound() throws {
    try write("")
    #expect(try found(KnownGrowth()) == "empty")
    try write("first\n")
    #expect(try found(KnownGrowth()) == "first after 0")
    let known = try recorded()
    #expect(try found(known) == "unchanged")
    try write("second\n")
    #expect(try found(known) == "grown from 6")
    let growing = try opened(known)
    let segment = try #require(try growing.copy(try growing.growth(), to: copies))
    let copy = try SourceFile(path: copies.path(segment.staged))
    #expect((copy.identity.size, copy.identity.mtimeNs) == (7, growing.file.identity.mtimeNs))
    #expect(try Self.text(of: copy) == "second\n")
  }

  @Test func aFileThatWasTouchedIsUnchanged() throws {
    try write("first\n")
    let known = try recorded()
    var times = [timespec(tv_sec: 5, tv_nsec: 0), timespec(tv_sec: 5, tv_nsec: 0)]
    #expect(path.withCString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
    #expect(try found(known) == "unchanged")
  }

  /// The beginning is compared too: the newest segment may be as short as a line feed.
  @Test func anotherBeginningIsAnotherContent() throws {
    try write("first\n\n")
    let known = try recorded(from: 6)
    try write("other\n\nmore\n", at: 0, flags: O_TRUNC)
    #expect(try found(known) == "rewritten after 1")
  }

  @Test func aShorterOrRewrittenFileBeginsAnew() throws {
    try write("first\nsecond\n")
    let known = try recorded(from: 6)
    try write("SECOND", at: 6)
    #expect(try found(known) == "rewritten after 1")
    try write("first\n", at: 0, flags: O_TRUNC)
    #expect(try found(known) == "truncated after 1")
    var replaced = known
    replaced.candidates = []
    #expect(try found(replaced) == "replaced after 1")
  }

  /// A deleted file had its inode, and the same beginning.
  @Test func anotherFileWithTheInodeBeginsAnew() throws {
    try write("start\n")
    var known = try recorded()
    try write("job 2\n")
    #expect(try found(known) == "grown from 6")
    let bornNs = try SourceFile(path: path).bornNs
    known.candidates[0].bornNs = bornNs
    #expect(try found(known) == "grown from 6")
    if let bornNs {
      known.candidates[0].bornNs = bornNs - 1
    } else {
      known.candidates[0].identity.device += 1
      known.candidates[0].path = NameBytes("/other/app.log")
    }
    #expect(try found(known) == "replaced after 1")
  }

  /// Without birth times: its file system was mounted again, and has another device. Elsewhere it is another file.
  @Test func aFileThatWasMountedAgainContinues() throws {
    try write("first\n")
    var known = try recorded()
    try write("second\n")
    known.candidates[0].identity.device += 1
    #expect(try found(known) == "grown from 6")
    try write("other\nsecond\n", at: 0, flags: O_TRUNC)
    #expect(try found(known) == "rewritten after 1", "the content decides")
    known.candidates[0].path = NameBytes("/other/app.log")
    #expect(try found(known) == "replaced after 1")
  }

  /// Bytes of two contents would be mixed in the copy.
  @Test func aFileThatIsRewrittenWhileItIsCopiedIsNotRecorded() throws {
    try write("first\n")
    let known = try recorded()
    try write("second\n")
    let growing = try opened(known)
    let growth = try growing.growth()
    try write("fresh\nSECOND\n", at: 0, flags: O_TRUNC)
    #expect(try growing.copy(growth, to: copies) == nil)
    try write("x", at: 0, flags: O_TRUNC)
    #expect(try growing.copy(growth, to: copies) == nil)
    #expect(Self.names(folder.path.appending(NameBytes("l.db.staged"))).count == 1, "only that of recorded()")
  }

  /// What was appended meanwhile is left to the next segment.
  @Test func theCopyEndsWhereTheFileWasExamined() throws {
    try write("first\n")
    let known = try recorded()
    try write("second\n")
    let growing = try opened(known)
    let growth = try growing.growth()
    try write("third\n")
    let segment = try #require(try growing.copy(growth, to: copies))
    #expect(try Self.text(of: try SourceFile(path: copies.path(segment.staged))) == "second\n")
  }

  /// A run survives `.storeIO` of the folder of copies, not `.storeFull` of the ledger.
  @Test(arguments: [ENOSPC, EDQUOT, EACCES]) func aFolderThatCannotBeMadeEndsNoRun(_ code: Int32) {
    let error = copies.unusable("make", code)
    #expect(error.kind == .storeIO)
    #expect((error.remedy == "free space on its disk") == (code != EACCES))
  }

  private static func text(of file: SourceFile) throws -> String {
    var bytes = [UInt8](repeating: 0, count: Int(file.identity.size))
    try bytes.withUnsafeMutableBytes { try file.fill($0, at: 0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func names(_ folder: NameBytes) -> [String] {
    guard let directory = folder.withCString({ opendir($0) }) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }
}
