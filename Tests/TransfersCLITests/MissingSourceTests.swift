import Glibc
import Testing

@testable import TransfersCLI

/// A job some of whose sources are missing, through the built program and the bundled server.
@Suite struct MissingSourceTests {
  private let scene: JobScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    scene = try JobScene()
    for name in ["k1", "k2"] { try scene.fill(name, ["old": Array(name.utf8)]) }
  }

  private func configure(_ sources: String) throws {
    try scene.configure("jobs: {two: {\(sources), to: \"\(receiver.url)/in/\"}}")
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome { try scene.run(words) }

  private func job(_ words: String...) throws -> BuiltProgram.Outcome {
    try scene.run(["job", "run", "two", "--no-syslog"] + words)
  }

  private func stored(_ name: String) -> String? { scene.stored(name) }
  private func scans() throws -> String {
    try run("store", "sql", "--format", "tsv", "SELECT count(*) FROM v_scans").out
  }

  /// The other source is scanned, what an earlier run left is sent, keys stay the same, and the scan is not complete.
  @Test func theOtherSourcesAndWhatWasLeftAreSent() throws {
    try configure("from: [\(folder)/k1, \(folder)/k2]")
    #expect(try job("--max-bytes", "1").code == 5)
    #expect((stored("k1/old"), stored("k2/old")) == (nil, nil))
    let complete = try scans()
    rename("\(folder)/k1", "\(folder)/away")
    try writeFile("\(folder)/k2/new", Array("new".utf8))
    let outcome = try job()
    // The file that was left of the missing source is closed, because nothing of it was sent.
    #expect(outcome.code == 66)
    #expect(outcome.err.contains("read source \"\(folder)/k1\": no such file or directory"), "\(outcome.err)")
    #expect((stored("k2/old"), stored("k2/new")) == ("k2", "new"))
    #expect(try scans() == complete, "an incomplete scan was recorded")
    #expect(try run("job", "show", "two", "--json").out.contains(#""last_result":"no_source""#))
    rename("\(folder)/away", "\(folder)/k1")
    #expect(try job("-v").out.contains("result=ok"))
    #expect(stored("k1/old") == "k1")
  }

  /// Several missing sources are one line.
  @Test func severalMissingSourcesAreOneLine() throws {
    try configure("from: [\(folder)/k1, \(folder)/x1, \(folder)/x2]")
    let some = try job()
    #expect(some.code == 66)
    #expect(some.err.contains("\(folder)/x1\": no such file or directory (and 1 more source)"), "\(some.err)")
    #expect(some.err.split(separator: "\n").count == 1, "one error, and no summary that says ok: \(some.err)")
    #expect(stored("k1/old") == "k1")
    rename("\(folder)/k1", "\(folder)/away")
    let all = try job()
    #expect(all.code == 66)
    #expect(all.err.contains("\(folder)/k1\": no such file or directory (and 2 more sources)"), "\(all.err)")
  }

  @Test func aPatternThatMatchesNothingIsAnEmptyScan() throws {
    try configure("from: [\"\(folder)/k1/*.csv\"]")
    let outcome = try job()
    #expect((outcome.code, outcome.out, outcome.err) == (0, "", ""))
    #expect(try scans() == "count(*)\n1\n")
    try writeFile("\(folder)/k1/a.csv", Array("a".utf8))
    #expect(try job().code == 0)
    #expect(stored("a.csv") == "a")
    rename("\(folder)/k1", "\(folder)/away")
    #expect(try job().code == 66)
  }

  /// Nothing of a wrong list is recorded, but the files that wait are sent.
  @Test func aWrongListIsAFaultOfTheListOnly() throws {
    try writeFile("\(folder)/list", Array("\(folder)/k1/old\n".utf8))
    try configure("files_from: \(folder)/list, base: \(folder)")
    #expect(try job("--max-bytes", "1").code == 5)
    try writeFile("\(folder)/list", Array("\(folder)/k1/gone\n".utf8))
    let outcome = try job()
    #expect(outcome.code == 66 && outcome.err.contains("1 of its files does not exist"), "\(outcome.err)")
    #expect(stored("k1/old") == "k1")
  }

  @Test func aFirstRunWithoutItsSourceSaysSo() throws {
    try configure("from: [\(folder)/none]")
    let outcome = try job()
    #expect(outcome.code == 66 && outcome.err.contains("none\": no such file or directory"), "\(outcome.err)")
  }
}
