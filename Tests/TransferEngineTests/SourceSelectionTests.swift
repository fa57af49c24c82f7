import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// The paths of the files of each source at the destination, and which selections are refused as a whole.
@Suite struct SourceSelectionTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["data", "data/a", "data/b", "data/b/c"] { folder.makeDirectory(name) }
    for name in ["data/1", "data/a/1", "data/a/2.bin", "data/b/c/3.bin", "data/.hidden.bin"] {
      folder.write(NameBytes(name), "x")
    }
  }

  @Test(arguments: [
    (["data"], ".hidden.bin 1 a/1 a/2.bin b/c/3.bin"), (["data/"], ".hidden.bin 1 a/1 a/2.bin b/c/3.bin"),
    (["data/./b/../b"], "c/3.bin"), (["data/a/1"], "1"), (["data/a", "data/b"], "a/1 a/2.bin b/c/3.bin"),
    (["data/a/1", "data/1"], "a/1 1"), (["data/a/", "data/a"], "1 2.bin"), (["data/a", "data/a/1"], "a/1 a/2.bin a/1"),
    (["data/*/*.bin"], "a/2.bin"), (["data/**/*.bin"], "a/2.bin b/c/3.bin"), (["data/.*"], ".hidden.bin"),
    (["data/?"], "1 a/1 a/2.bin b/c/3.bin"), (["data/[!a]"], "1 b/c/3.bin"), (["data/a*"], "a/1 a/2.bin"),
    (["data/*/"], "a/1 a/2.bin b/c/3.bin"), (["data/a/*", "data/b"], "a/1 a/2.bin b/c/3.bin"),
  ])
  func keysAreThePathsBelowWhatTheSourcesShare(_ sources: [String], _ expected: String) throws {
    let found = try scan(sources.map(path))
    #expect(found.relative.joined(separator: " ") == expected)
    #expect(found.paths.allSatisfy { $0.hasPrefix("/") && !$0.contains("//") && !$0.contains("/./") })
  }

  @Test func aFileWithTheNameOfAPatternIsThatFile() throws {
    folder.write(NameBytes("data/a/[12]*"), "x")
    #expect(try scan([path("data/a/[12]*")]).relative == ["[12]*"])
  }

  /// Somebody puts a link in the place of what a pattern has matched, before it is scanned.
  @Test(arguments: [
    ("data/*", "data/b"), ("data/a*", "data/a"), ("data/b/*", "data/b/c"), ("data/*/c", "data/b"),
    ("data/b/c/*.bin", "data/b/c/3.bin"), ("data/../data/*/c", "data/b"), ("data/**/3.bin", "data/b"),
  ])
  func aMatchThatBecameALinkIsNotFollowed(_ pattern: String, _ name: String) throws {
    for name in ["private", "private/c"] { folder.makeDirectory(name) }
    for name in ["private/secret", "private/c/3.bin"] { folder.write(NameBytes(name), "x") }
    let found = try SourceSelection([path(pattern)]).resolve()
    #expect(folder.withPath(name) { from in folder.withPath("old") { rename(from, $0) } } == 0)
    let target = folder.path.appending(NameBytes(name.hasSuffix(".bin") ? "private/secret" : "private"))
    #expect(folder.withPath(name) { link in target.withCString { symlink($0, link) } } == 0)
    let seen = Lock<(files: [String], special: Int)>(([], 0))
    try found.scan { finding throws(TransferError) in
      seen.withLock { seen in
        if case .file(let path, _, _, _, _, _) = finding { seen.files.append(String(decoding: path, as: UTF8.self)) }
        if case .special = finding { seen.special += 1 }
      }
    }
    let (files, special) = seen.withLock { $0 }
    #expect(files.filter { $0.hasPrefix("\(folder.path)/\(name)") || $0.contains("/private/") } == [])
    #expect(special == 1)
  }

  @Test func theBaseDecidesWhenItIsGiven() throws {
    #expect(try scan([path("data/a/1")], base: path("data")).relative == ["a/1"])
    #expect(try scan([path("data")], base: path("data")).relative.first == ".hidden.bin")
    #expect(refusal { try scan([path("data/1")], base: path("data/a")) }?.kind == .usage)
    #expect(refusal { try scan([path("data/1")], base: path("data/1")) }?.kind == .noSource)
    #expect(refusal { try scan([path("data/a/1")], base: path("dat")) }?.kind == .noSource)
    folder.makeDirectory("dat")
    #expect(refusal { try scan([path("data/a/1")], base: path("dat")) }?.kind == .usage)
  }

  @Test(arguments: ["data/none", "data/x*", "data/[", "", "data/[]", "data/1/*"])
  func whatIsNotThereIsRefused(_ name: String) {
    #expect(refusal { try scan([name.isEmpty ? NameBytes("") : path(name)]) }?.kind == .noSource)
  }

  @Test(arguments: ["[", "a[b", "x\\", "[!]", "ok/[z"])
  func aRuleThatIsNoPatternIsRefused(_ pattern: String) {
    let rules = PathRules([PathRule(kind: .include, pattern: "*"), PathRule(kind: .exclude, pattern: pattern)])
    #expect(refusal { try SourceSelection([path("data")], rules: rules).resolve() }?.kind == .usage)
  }

  /// Otherwise files that a person excluded would be sent.
  @Test(arguments: [
    ("./1", "/1"), ("../data/1", "/1"), ("a/./1", "/1"), ("{1,a}", "\"1\" and \"a\""), ("*.{log,txt}", "\"*.log\""),
    ("BASE/1", "/1"), ("BASE/a/**", "/a/**"), ("BASE", "name what is below"),
  ])
  func aRuleThatMatchesNothingIsRefused(_ pattern: String, _ remedy: String) throws {
    let text = pattern.replacing("BASE", with: String(decoding: path("data").bytes, as: UTF8.self))
    for kind in [PathRule.Kind.include, .exclude] {
      let rules = PathRules([PathRule(kind: kind, pattern: text)])
      let error = refusal { try SourceSelection([path("data")], rules: rules).resolve() }
      #expect(error?.kind == .usage && error?.remedy.contains(remedy) == true, "\(text) \(String(describing: error))")
    }
  }

  @Test(arguments: ["{1}", "[{]1,a}", "\\{1,a}", "/1", "a/**", ".*", "..."])
  func aRuleThatMayMatchIsTaken(_ pattern: String) throws {
    let rules = PathRules([PathRule(kind: .exclude, pattern: pattern)])
    _ = try SourceSelection([path("data")], rules: rules).resolve()
  }

  // MARK: - Lists

  @Test(arguments: [
    ("1\na/1", "1 a/1"), ("./1\n\n\na//1\n", "1 a/1"), ("1\r\na/1\r\n\r\n", "1 a/1"), ("\u{FEFF}1\n", "1"),
    ("", ""), ("\n", ""),
  ])
  func linesAreNames(_ text: String, _ expected: String) throws {
    let found = try list(text, base: path("data"))
    #expect(found.relative.joined(separator: " ") == expected)
    #expect(found.remarks.count == (text.utf8.contains(0x0D) || text.utf8.first == 0xEF ? 1 : 0))
  }

  @Test func aNameIsTakenAsItIsWhenItIsThere() throws {
    for name in ["#1", " 2 ", "3\r"] { folder.write(NameBytes("data/" + name), "x") }
    let found = try list("#1\n 2 \n3\r\n", base: path("data"))
    #expect(found.relative == ["#1", " 2 ", "3\r"])
    #expect(found.remarks.isEmpty)
    folder.write(NameBytes("data/two\nlines"), "x")
    #expect(try list("two\nlines\0" + "1\0\0", .nul, base: path("data")).relative == ["two\nlines", "1"])
  }

  @Test func namesFromTheRootKeepTheirPath() throws {
    let name = path("data/1")
    #expect(try list("\(name)\n").relative == [String("\(name)".dropFirst())])
    #expect(try list("\(name)\na/1", base: path("data")).relative == ["1", "a/1"])
    #expect(refusal { try list("\(name)\n", base: path("data/a")) }?.cause.hasPrefix("line 1: ") == true)
    #expect(refusal { try list("\(name)\n1\n") }?.cause.hasPrefix("line 2: absolute and relative paths") == true)
  }

  @Test(arguments: [
    ("1\na\n", "line 2: \"a\" is a folder"), ("1\n../x\n", "line 2: \"../x\" leads upwards"),
    ("1\n\n1\0b\n", "line 3: it holds a NUL"), (String(repeating: "x", count: 70_000), "line 1: it is longer"),
  ])
  func aWrongListIsRefusedWithItsLine(_ text: String, _ cause: String) {
    let error = refusal { try list(text, base: path("data")) }
    #expect(error?.kind == .badList)
    #expect(error?.cause.hasPrefix(cause) == true, "\(error?.cause ?? "")")
  }

  @Test func missingFilesRefuseTheListOrAreToldOneByOne() throws {
    let text = (1...9).map { "gone\($0)\n" }.joined() + "1\n"
    let error = refusal { try list(text, base: path("data")) }
    #expect(error?.kind == .noSource)
    #expect(error?.cause == "9 of its files do not exist (line 1, 2, 3, 4, 5, …), first \"gone1\"")
    let found = try list(text, base: path("data"), skipsMissing: true)
    #expect(found.relative == ["1"])
    #expect(found.unreadable.count == 9)
  }

  @Test func linksInAListAreSkippedOrFollowed() throws {
    #expect(folder.withPath("data/link") { symlink("a/1", $0) } == 0)
    #expect(try list("link\n", base: path("data")).special == ["a symbolic link"])
    let found = try list("link\n", base: path("data"), follows: true)
    #expect(found.relative == ["link"])
    #expect(found.paths.first?.hasSuffix("/data/a/1") == true)
  }

  @Test func aListThatCannotBeReadIsNoSource() {
    #expect(refusal { try SourceSelection([], list: FileList(path: path("none"))).resolve() }?.kind == .noSource)
    #expect(
      refusal { try SourceSelection([], list: FileList(path: path("data"))).resolve().scan { _ in } }?.kind == .noSource
    )
  }

  /// Longer than the block that is read at a time, so that entries cross its end.
  @Test func aLongListIsReadInBlocks() throws {
    let lines = 60_000
    let found = try list(String(repeating: "a/2.bin\n1\n", count: lines / 2), base: path("data"))
    #expect(found.relative.count == lines)
    #expect(Set(found.relative) == ["a/2.bin", "1"])
  }

  // MARK: - Helpers

  private struct Found {
    var relative: [String] = []
    var paths: [String] = []
    var special: [String] = []
    var unreadable: [String] = []
    var remarks: [String] = []
  }

  private func path(_ name: String) -> NameBytes { folder.path.appending(NameBytes(name)) }

  private func scan(_ sources: [NameBytes], base: NameBytes? = nil) throws(TransferError) -> Found {
    try found(SourceSelection(sources, base: base))
  }

  private func list(
    _ text: String, _ separator: FileList.Separator = .newline, base: NameBytes? = nil, skipsMissing: Bool = false,
    follows: Bool = false
  ) throws(TransferError) -> Found {
    folder.write(NameBytes("list"), text)
    return try found(
      SourceSelection(
        [], list: FileList(path: path("list"), separator: separator, skipsMissing: skipsMissing), base: base,
        followsSymlinks: follows))
  }

  private func found(_ selection: SourceSelection) throws(TransferError) -> Found {
    let box = Lock(Found())
    try selection.resolve().scan { finding throws(TransferError) in
      box.withLock { found in
        switch finding {
        case .file(let path, _, let relative, _, _, _):
          found.relative.append(String(decoding: relative, as: UTF8.self))
          found.paths.append(String(decoding: path, as: UTF8.self))
        case .special(_, let kind): found.special.append(kind)
        case .unreadable(_, let relative, _): found.unreadable.append("\(relative)")
        case .remark(let text): found.remarks.append(text)
        case .excluded: break
        }
      }
    }
    return box.withLock { $0 }
  }

  private func refusal<T>(_ body: () throws -> T) -> TransferError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? TransferError }
  }
}
