import Testing
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// A source that was sent under another name before is told when it is sent again.
@Suite struct RenamedSourceTests {
  private let scene: Scene

  init() throws {
    scene = try Scene()
    for name in ["a", "b", "c"] { try write(name) }
    #expect(try add().counts.added == 3)
    #expect(try scene.run().done == 3)
  }

  /// A file that was written an hour ago.
  private func write(_ name: String) throws {
    let path = "\(scene.root)/source/\(name)"
    try Scene.write(Array(name.utf8), to: NameBytes(path))
    var times = [timespec(), timespec()]
    clock_gettime(CLOCK_REALTIME, &times[1])
    times[1].tv_sec -= 3_600
    times[0] = times[1]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  private func rename(_ name: String, to other: String) {
    #expect(Glibc.rename("\(scene.root)/source/\(name)", "\(scene.root)/source/\(other)") == 0)
  }

  private func add(dedupe: Bool = false) throws -> (counts: SourceCounts, told: [String]) {
    var settings = BatchSettings(destination: scene.url + "/up/")
    if dedupe { settings.dedupe = true }
    let told = Lock([String]())
    let added = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings),
      notice: { notice in
        if case .remark(let text) = notice, text.contains("renamed") { told.withLock { $0.append(text) } }
      })
    return (added.counts, told.withLock { $0 })
  }

  @Test func itIsToldWithItsFormerName() throws {
    rename("a", to: "z")
    let (counts, told) = try add()
    #expect(counts.added == 1)
    let (now, past) = ("\(scene.root)/source/z", "\(scene.root)/source/a")
    #expect(
      told == [
        "1 file was sent under other names before, and renamed since: \"\(now)\" is f1 (\"\(past)\"); "
          + "it is sent again, except with --dedupe"
      ])
    #expect(try scene.run().done == 1)
    #expect(try add().told == [])
  }

  @Test func severalAreOneLine() throws {
    mkdir("\(scene.root)/source/folder", 0o700)
    for name in ["a", "b", "c"] { rename(name, to: "folder/\(name)") }
    let told = try add().told
    #expect(told.count == 1 && told.first?.hasPrefix("3 files were sent under other names before") == true, "\(told)")
  }

  /// A second name, a new file, and a file that was changed are no renamed ones.
  @Test func nothingElseIs() throws {
    #expect(link("\(scene.root)/source/a", "\(scene.root)/source/second") == 0)
    try write("new")
    rename("b", to: "other")
    try write("other")
    #expect(try add().told == [])
    rename("c", to: "last")
    // Each of them is compared when it is sent, and told then.
    #expect(try add(dedupe: true).told == [])
  }
}
