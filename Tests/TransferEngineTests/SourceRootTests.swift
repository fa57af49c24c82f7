import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Which part of the path of a source may lead through symbolic links, and that what is behind it may not.
@Suite struct SourceRootTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["data", "data/a", "data/b", "far", "far/c"] { folder.makeDirectory(name) }
    for name in ["data/1", "data/a/2", "data/b/3", "far/c/4", "far/5"] { folder.write(NameBytes(name), "x") }
    #expect(folder.withPath("data/link") { symlink("../far", $0) } == 0)
    #expect(folder.withPath("alias") { symlink("data", $0) } == 0)
  }

  private func path(_ name: String) -> NameBytes { folder.path.appending(NameBytes(name)) }

  /// The roots of the files of a scan, relative to the folder of the test; "/" for that of the file system.
  private func roots(_ sources: [String], follows: Bool = false) throws -> [String] {
    let found = try SourceSelection(sources.map(path), followsSymlinks: follows).resolve()
    return try roots(of: found)
  }

  private func roots(of found: ResolvedSources) throws -> [String] {
    let names = Lock([String]())
    let start = folder.path.bytes.count + 1
    try found.scan { finding throws(TransferError) in
      guard case .file(let path, let root, _, _, mode: _, _) = finding else { return }
      let allowed = root == 1 ? "/" : String(decoding: path.prefix(root).dropFirst(start), as: UTF8.self)
      names.withLock { $0.append(String(decoding: path.dropFirst(start), as: UTF8.self) + ":" + allowed) }
    }
    return names.withLock { $0 }
  }

  @Test func itIsTheFolderOfTheKeysUnlessALinkBelowItWasNamed() throws {
    #expect(try roots(["data"]) == ["data/1:data", "data/a/2:data", "data/b/3:data"])
    #expect(try roots(["alias"]) == ["alias/1:alias", "alias/a/2:alias", "alias/b/3:alias"])
    #expect(try roots(["data/a", "data/b"]) == ["data/a/2:data", "data/b/3:data"])
    #expect(try roots(["data/a/2"]) == ["data/a/2:data/a"])
    #expect(try roots(["data/a/2", "data/1"]) == ["data/a/2:data", "data/1:data"])
    let linked = ["data/a/2:data", "data/link/5:data/link", "data/link/c/4:data/link"]
    #expect(try roots(["data/a", "data/link"]) == linked)
    #expect(try roots(["data/link/c/4", "data/1"]) == ["data/link/c/4:data/link", "data/1:data"])
  }

  /// What a link leads to is recorded by its real path, which leads through none, whatever becomes of the link.
  @Test func whatIsBehindAFollowedLinkHasItsRealPath() throws {
    let real = ["data/1:data", "data/a/2:data", "data/b/3:data", "far/5:/", "far/c/4:/"]
    #expect(try roots(["data"], follows: true) == real)
    #expect(folder.withPath("name") { symlink("far/c/4", $0) } == 0)
    #expect(try roots(["name"]) == ["far/c/4:/"])
    #expect(try roots(["name", "data/1"]) == ["far/c/4:/", "data/1:"])
  }

  @Test func aListMayLeadThroughTheLinksThatItNames() throws {
    #expect(
      try roots(list: "a/2\nlink/c/4\n1\nb/3\n", base: "data") == [
        "data/a/2:data", "data/link/c/4:data/link", "data/1:data", "data/b/3:data",
      ])
    #expect(try roots(list: "\(path("data/1"))\n\(path("data/link/5"))\n") == ["data/1:/", "data/link/5:data/link"])
  }

  private func roots(list: String, base: String? = nil) throws -> [String] {
    folder.write(NameBytes("list"), list)
    let list = FileList(path: path("list"), separator: .newline)
    return try roots(of: try SourceSelection([], list: list, base: base.map(path)).resolve())
  }

  private func failure(_ name: String, _ root: String?) throws -> Failure? {
    do throws(Failure) {
      let file = try SourceFile(path: path(name), root: root.map { path($0).bytes.count })
      #expect(file.identity.size == 1)
      return nil
    } catch {
      return error
    }
  }

  @Test func noLinkBehindItIsFollowed() throws {
    #expect(try failure("data/link/5", nil) == nil)
    #expect(try failure("data/link/5", "data/link") == nil)
    #expect(try failure("alias/a/2", "alias") == nil)
    let folder = try #require(try failure("data/link/5", "data"))
    #expect(folder.code == .sourceKind && folder.message.contains("a folder above it is a symbolic link now"))
    #expect(try failure("alias/a/2", "")?.code == .sourceKind)
    #expect(self.folder.withPath("data/last") { symlink("1", $0) } == 0)
    #expect(try failure("data/last", "data")?.message == "is a symbolic link, not a regular file")
    #expect(try failure("data/none/1", "data")?.code == .sourceMissing)
    #expect(try failure("none/1", "none")?.code == .sourceMissing)
    #expect(try failure("data/a", "data")?.code == .sourceKind)
  }

  /// What a scan itself reads of a source: to compare it with a list, or with what a destination has.
  @Test func noLinkIsFollowedToCompareContent() throws {
    let identity = try SourceFile(path: path("far/5")).identity
    var entry = ManifestEntry(location: .relative(NameBytes("5")), path: NameBytes("5"), line: 1)
    entry.digests = [RunningDigest.of(Array("x".utf8), .sha256)]
    let listed = ListedFile(entry, of: NameBytes("list"))
    #expect(listed.difference(from: identity, at: path("data/link/5"), root: path("data/link").bytes.count) == nil)
    #expect(
      listed.difference(from: identity, at: path("data/link/5"), root: path("data").bytes.count)?.code == .sourceKind)
  }

  @Test func theRootOfTheFileSystemIsOneToo() throws {
    let file = try SourceFile(path: path("data/1"), root: 1)
    #expect(file.identity.size == 1)
  }
}
