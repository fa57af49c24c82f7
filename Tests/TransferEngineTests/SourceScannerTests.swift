import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct SourceScannerTests {
  @Test func namesAreBytesAndComeInOrder() throws {
    let folder = try TemporaryFolder()
    let names: [[UInt8]] = [[0xFF, 0xFE], Array("a\nb".utf8), Array(repeating: 0x78, count: 255), Array("-rf".utf8)]
    for name in names { folder.write(NameBytes(name), "x") }
    let found = try scan(folder.path)
    #expect(found.files.map(\.bytes) == names.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test func specialFilesAndLinksAreToldAndNotFollowed() throws {
    let folder = try TemporaryFolder()
    folder.write(NameBytes("real"), "x")
    #expect(folder.withPath("fifo") { mkfifo($0, 0o600) } == 0)
    #expect(folder.withPath("loop") { symlink(".", $0) } == 0)
    let found = try scan(folder.path)
    #expect(found.files == [NameBytes("real")])
    #expect(found.special == ["a FIFO", "a symbolic link"])
  }

  @Test func aLoopOfFollowedLinksEnds() throws {
    let folder = try TemporaryFolder()
    folder.write(NameBytes("real"), "x")
    #expect(folder.withPath("loop") { symlink(".", $0) } == 0)
    let found = try scan(folder.path, follows: true)
    #expect(found.files == [NameBytes("real")])
    #expect(found.unreadable == [NameBytes("loop")])
  }

  @Test func aFollowedLinkIsRecordedAsTheFileThatItLeadsTo() throws {
    let folder = try TemporaryFolder()
    folder.makeDirectory("tree")
    folder.write(NameBytes("target"), "x")
    #expect(folder.withPath("tree/link") { symlink("../target", $0) } == 0)
    let found = try scan(folder.path.appending(NameBytes("tree")), follows: true)
    #expect(found.files == [NameBytes("link")])
    #expect(try SourceFile(path: try #require(found.paths.first)).identity.size == 1)
    let named = try scan(folder.path.appending(NameBytes("tree/link")))
    #expect(named.files == [NameBytes("link")])
    #expect(try SourceFile(path: try #require(named.paths.first)).identity.size == 1)
  }

  @Test func aNamedFileIsItsOwnRelativePath() throws {
    let folder = try TemporaryFolder()
    folder.write(NameBytes("one"), "x")
    #expect(try scan(folder.path.appending(NameBytes("one"))).files == [NameBytes("one")])
  }

  @Test func whatGoesWhileItIsScannedIsNoFailure() throws {
    let folder = try TemporaryFolder()
    folder.write(NameBytes("a"), "x")
    folder.write(NameBytes("b"), "x")
    folder.makeDirectory("c")
    var found: [NameBytes] = []
    let scanner = SourceScanner(rules: PathRules(), followsSymlinks: false) { finding in
      switch finding {
      case .file(_, _, let relative, _, _, _):
        found.append(NameBytes(Array(relative)))
        _ = folder.withPath("b") { unlink($0) }
        _ = folder.withPath("c") { rmdir($0) }
      case .unreadable(_, let relative, _): found.append(relative)
      default: break
      }
    }
    try scanner.scan(SourcePlace(path: folder.path, relativeStart: folder.path.bytes.count + 1))
    #expect(found == [NameBytes("a")])
  }

  @Test func aMissingSourceAndAFIFOAreErrors() throws {
    let folder = try TemporaryFolder()
    #expect(throws: TransferError.self) { try scan(folder.path.appending(NameBytes("none"))) }
    #expect(folder.withPath("fifo") { mkfifo($0, 0o600) } == 0)
    #expect(throws: TransferError.self) { try scan(folder.path.appending(NameBytes("fifo"))) }
  }

  @Test func excludedDirectoriesAreNotEntered() throws {
    let folder = try TemporaryFolder()
    folder.makeDirectory("skip")
    folder.write(NameBytes("skip/inner"), "x")
    folder.write(NameBytes("outer"), "x")
    let found = try scan(folder.path, rules: PathRules([PathRule(kind: .exclude, pattern: "skip/")]))
    #expect(found.files == [NameBytes("outer")])
    #expect(found.excluded == ["--exclude skip/"])
  }

  private struct Found {
    var files: [NameBytes] = []
    var paths: [NameBytes] = []
    var special: [String] = []
    var unreadable: [NameBytes] = []
    var excluded: [String] = []
  }

  private func scan(
    _ source: NameBytes, rules: PathRules = PathRules(), follows: Bool = false
  ) throws(TransferError) -> Found {
    let box = Lock(Found())
    let selection = SourceSelection([source], rules: rules, followsSymlinks: follows)
    try selection.resolve().scan { finding throws(TransferError) in
      box.withLock { found in
        switch finding {
        case .file(let path, _, let relative, _, _, _):
          found.files.append(NameBytes(Array(relative)))
          found.paths.append(NameBytes(Array(path)))
        case .special(_, let kind): found.special.append(kind)
        case .unreadable(_, let relative, _): found.unreadable.append(relative)
        case .excluded(_, let rule): found.excluded.append(rule)
        case .remark: break
        }
      }
    }
    return box.withLock { $0 }
  }
}
