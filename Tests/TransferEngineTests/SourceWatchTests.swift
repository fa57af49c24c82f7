import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Uses the kernel's own events, which are available when the call that caused them returns.
@Suite struct SourceWatchTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    folder.makeDirectory("in")
  }

  private func path(_ name: String) -> NameBytes { folder.path.appending(NameBytes(name)) }

  private func watch(
    _ names: [String] = ["in"], _ rules: [PathRule] = [], follows: Bool = false, marker: String? = nil,
    own: OwnFiles? = nil
  ) throws -> SourceWatch {
    let selection = SourceSelection(names.map(path), rules: PathRules(rules), followsSymlinks: follows)
    let watch = SourceWatch(
      WatchedSources(selection, marker: try marker.map { try ReadyMarker($0) }, ownFiles: own))
    #expect(watch.tend(nowMs: 0).hasChanged)
    return watch
  }

  /// Whether there are events that count as a hint.
  private func hears(_ watch: SourceWatch, nowMs: Int64 = 0) -> Bool {
    var entry = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0 && watch.drain(nowMs: nowMs).hasChanged
  }

  private func move(_ from: String, _ to: String) {
    let moved = path(from).withCString { from in path(to).withCString { rename(from, $0) } }
    #expect(moved == 0)
  }

  private func write(_ name: String) { folder.write(NameBytes(name), "x") }

  @Test func aFileThatIsWrittenMovedInOrMadeReadableIsAHint() throws {
    let watch = try watch()
    #expect(!hears(watch))
    write("in/a")
    #expect(hears(watch))
    write("b")
    #expect(!hears(watch))
    move("b", "in/b")
    #expect(hears(watch))
    #expect(folder.withPath("in/b") { chmod($0, 0o644) } == 0)
    #expect(hears(watch))
    #expect(folder.withPath("in/b") { unlink($0) } == 0)
    #expect(!hears(watch))
  }

  @Test func readingAndListingAreNoHints() throws {
    write("in/a")
    let watch = try watch()
    _ = try SourceFile(path: path("in/a")).identity
    try SourceScanner(rules: PathRules(), followsSymlinks: false) { _ in }
      .scan(SourcePlace(path: path("in"), relativeStart: 0))
    #expect(!hears(watch))
  }

  @Test func newFoldersAreWatchedToAnyDepthAlsoThoseThatWereFilledBefore() throws {
    let watch = try watch()
    folder.makeDirectory("tree")
    folder.makeDirectory("tree/deep")
    move("tree", "in/tree")
    folder.makeDirectory("in/new")
    #expect(hears(watch))
    #expect(watch.count == 4)
    write("in/tree/deep/a")
    #expect(hears(watch))
    write("in/new/a")
    #expect(hears(watch))
  }

  @Test func aFolderThatIsRenamedIsWatchedUnderItsNewName() throws {
    folder.makeDirectory("in/a")
    folder.makeDirectory("in/a/b")
    let watch = try watch(["in"], [PathRule(kind: .exclude, pattern: "old/")])
    move("in/a", "in/c")
    #expect(hears(watch))
    write("in/c/b/x")
    #expect(hears(watch))
    move("in/c", "in/old")
    #expect(!hears(watch))
    write("in/old/b/x")
    #expect(!hears(watch))
    #expect(watch.count == 1)
  }

  @Test func aFolderThatLeavesOrIsRemovedIsForgotten() throws {
    folder.makeDirectory("in/a")
    folder.makeDirectory("in/a/b")
    let watch = try watch()
    #expect(watch.count == 3)
    move("in/a", "out")
    #expect(!hears(watch))
    write("out/b/x")
    #expect(!hears(watch))
    #expect(watch.count == 1)
    folder.makeDirectory("in/c")
    _ = hears(watch)
    #expect(folder.withPath("in/c") { rmdir($0) } == 0)
    _ = hears(watch)
    #expect(watch.count == 1)
  }

  @Test func whatARuleLeavesOutIsNoHint() throws {
    folder.makeDirectory("in/skipped")
    let watch = try watch(
      ["in"], [PathRule(kind: .exclude, pattern: "*.part"), PathRule(kind: .exclude, pattern: "skipped/")])
    #expect(watch.count == 1)
    write("in/a.part")
    write("in/skipped/a")
    #expect(!hears(watch))
    move("in/a.part", "in/a")
    #expect(hears(watch))
  }

  @Test func aMarkerIsAHintAlsoWhenARuleLeavesItOut() throws {
    let watch = try watch(["in"], [PathRule(kind: .include, pattern: "*.bam")], marker: "{path}.done")
    write("in/a.txt")
    #expect(!hears(watch))
    write("in/a.bam.done")
    #expect(hears(watch))
  }

  @Test func aRootThatIsReplacedOrAppearsLaterIsWatched() throws {
    let watch = try watch(["in", "later"])
    move("in", "gone")
    folder.makeDirectory("in")
    #expect(watch.tend(nowMs: 1).hasChanged)
    write("in/a")
    #expect(hears(watch))
    #expect(!watch.tend(nowMs: 2).hasChanged)
    folder.makeDirectory("later")
    #expect(watch.tend(nowMs: 3).hasChanged)
    write("later/a")
    #expect(hears(watch))
    #expect(folder.withPath("later/a") { unlink($0) } == 0)
    #expect(folder.withPath("later") { rmdir($0) } == 0)
    #expect(hears(watch))
    // The inode number of a removed folder may be reused for the next one.
    folder.makeDirectory("later")
    #expect(watch.tend(nowMs: 4).hasChanged)
    write("later/b")
    #expect(hears(watch))
  }

  @Test func filesAndPatternsAreWatchedByTheFoldersTheyLieIn() throws {
    write("in/a")
    folder.makeDirectory("p")
    folder.makeDirectory("p/x1")
    let watch = try watch(["in/a", "p/x*"])
    write("new")
    move("new", "in/a")
    #expect(hears(watch))
    write("p/x1/f")
    #expect(hears(watch))
    folder.makeDirectory("p/x2")
    #expect(hears(watch, nowMs: 1))
    #expect(watch.tend(nowMs: 2).hasChanged)
    write("p/x2/f")
    #expect(hears(watch))
    #expect(!watch.tend(nowMs: 3).hasChanged)
  }

  @Test func whatLeadsToAPatternIsWatchedWhenItAppears() throws {
    folder.makeDirectory("p")
    let watch = try watch(["p/*/out", "p/**/*.bam"])
    folder.makeDirectory("p/a")
    #expect(hears(watch) && watch.tend(nowMs: 1).hasChanged)
    folder.makeDirectory("p/a/out")
    #expect(hears(watch) && watch.tend(nowMs: 2).hasChanged)
    write("p/a/out/f")
    #expect(hears(watch))
    folder.makeDirectory("other")
    #expect(folder.withPath("p/b") { symlink("../other", $0) } == 0)
    #expect(hears(watch) && !watch.tend(nowMs: 3).hasChanged, "a link that a pattern matches is not followed")
  }

  @Test func whatLinksOfAPatternLeadToIsWatchedIfTheyAreFollowed() throws {
    folder.makeDirectory("p")
    folder.makeDirectory("other")
    let watch = try watch(["p/*/out"], follows: true)
    #expect(folder.withPath("p/b") { symlink("../other", $0) } == 0)
    #expect(hears(watch) && watch.tend(nowMs: 1).hasChanged)
    folder.makeDirectory("other/out")
    #expect(hears(watch) && watch.tend(nowMs: 2).hasChanged)
    write("other/out/f")
    #expect(hears(watch))
  }

  /// Even by another path, next to a pattern, and for temporary files.
  @Test func whatTheProgramWritesItselfIsNoHint() throws {
    folder.makeDirectory("in/deep")
    folder.makeDirectory("in/deep/l.db.staged")
    folder.makeDirectory("in/deep/other.staged")
    #expect(folder.withPath("link") { symlink("in/deep", $0) } == 0)
    let own = OwnFiles(
      ledger: String(decoding: path("link/l.db").bytes, as: UTF8.self),
      files: [String(decoding: path("in/job.prom").bytes, as: UTF8.self)])
    let deep = try watch(own: own)
    let shallow = try watch(["in/deep/*"], own: own)
    for name in ["l.db", "l.db-wal", "l.db-shm", "l.db.callbacks", "l.db.key-aBcDeF", ".transfers-aBcDeF"] {
      write("in/deep/\(name)")
    }
    write("in/deep/l.db.staged/0123")
    write("in/.transfers-aBcDeF")
    move("in/.transfers-aBcDeF", "in/job.prom")
    #expect(!hears(deep) && !hears(shallow))
    write("in/l.db")
    #expect(hears(deep) && !hears(shallow))
    write("in/deep/other.staged/0123")
    #expect(hears(deep))
    write("in/deep/job.prom")
    #expect(hears(deep) && hears(shallow))
  }

  @Test func linksAreFollowedOnlyWhenTheScanDoesAndALoopEnds() throws {
    folder.makeDirectory("other")
    #expect(folder.withPath("in/link") { symlink("../other", $0) } == 0)
    #expect(folder.withPath("in/loop") { symlink(".", $0) } == 0)
    let plain = try watch()
    #expect(plain.count == 1)
    let following = try watch(follows: true)
    #expect(following.count == 2)
    write("other/a")
    #expect(hears(following) && !hears(plain))
  }

  /// All watches are renewed periodically; a folder whose event was lost is watched from then on.
  @Test func lostEventsAreSaidOnceAndWatchedAfter() throws {
    let watch = try watch()
    let limit = try #require(Int(readSetting("max_queued_events")))
    for index in 0...limit { folder.makeDirectory("in/\(index)") }
    let news = watch.drain(nowMs: 1_000)
    #expect(news.hasChanged && news.remarks.count == 1)
    #expect(watch.count < limit + 2)
    #expect(!watch.tend(nowMs: SourceWatch.renewalMs - 1).hasChanged)
    #expect(watch.tend(nowMs: SourceWatch.renewalMs).hasChanged)
    #expect(watch.count == limit + 2)
    for index in 0...limit { #expect(folder.withPath("in/\(index)") { rmdir($0) } == 0) }
    let again = watch.drain(nowMs: SourceWatch.renewalMs + 1)
    #expect(again.remarks.isEmpty)
  }

  private func readSetting(_ name: String) throws -> String {
    let file = try SourceFile(path: NameBytes("/proc/sys/fs/inotify/\(name)"))
    return try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = try file.read(into: buffer, at: 0)
      return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
  }
}
