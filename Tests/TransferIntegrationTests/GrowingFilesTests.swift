import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Only what was appended to a file is sent. Judged by the objects that the receiver keeps: those of a series, in the
/// order of their names, are the file, and no byte of it was sent twice.
@Suite struct GrowingFilesTests {
  private let scene: Scene
  private var source: String { scene.root + "/source" }

  init() throws { scene = try Scene() }

  private func options(_ place: String = "/up/") -> UploadOptions {
    var settings = BatchSettings(destination: "\(scene.url)\(place)")
    settings.growing = .segments
    return UploadOptions(settings: settings)
  }

  private func add(
    to places: String..., notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) throws -> [AddResult] {
    let all = places.isEmpty ? [options()] : places.map { options($0) }
    return try TransferStore(at: scene.storePath).add([NameBytes(source)], toEach: all, notice: notice)
  }

  /// One run of a job: what was recorded, and sent without a failure.
  @discardableResult private func push() throws -> SourceCounts {
    let counts = try #require(try add().first).counts
    let result = try scene.run()
    #expect((result.failed, result.unknown) == (0, 0))
    #expect(try findings() == [])
    return counts
  }

  private func findings() throws -> [String] {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: MovableClock())
    defer { ledger.close() }
    return try ledger.read { reader in try reader.check() }.map { "\($0.invariant): \($0.detail)" }
  }

  private func append(_ text: String, to name: String = "app.log", flags: Int32 = O_APPEND) throws {
    let file = open("\(source)/\(name)", O_WRONLY | O_CREAT | flags, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
  }

  private func move(_ name: String, to other: String) {
    #expect(rename("\(source)/\(name)", "\(source)/\(other)") == 0)
  }

  /// What the receiver keeps, by series, in the order in which those of a file began: `app.log.1`.
  private func series(in folder: String = "up") throws -> [String: String] {
    var (series, begun): ([String: String], [String: [String]]) = ([:], [:])
    for name in try Scene.names(in: "\(scene.root)/kept/\(folder)").sorted() {
      let (file, number) = (String(name.dropLast(30)), String(name.dropLast(16).suffix(13)))
      if begun[file]?.last != number { begun[file, default: []].append(number) }
      let bytes = try #require(try scene.kept("\(folder)/\(name)"))
      series["\(file).\(begun[file]!.count)", default: ""] += String(decoding: bytes, as: UTF8.self)
    }
    return series
  }

  /// A whole file that was sent has the key of the next segment. Its object stays, and the growing file is sent again
  /// as a new series.
  @Test func aTakenKeyDoesNotStopAFile() throws {
    try append("one\n")
    try push()
    let first = try #require(try Scene.names(in: "\(scene.root)/kept/up").first)
    let other = "\(scene.root)/other"
    try #require(mkdir(other, 0o700) == 0)
    try Scene.write(Array("whole\n".utf8), to: NameBytes("\(other)/\(first.dropLast())4"))
    let whole = UploadOptions(settings: BatchSettings(destination: "\(scene.url)/up/"))
    _ = try TransferStore(at: scene.storePath).add([NameBytes(other)], whole, notice: { _ in })
    #expect(try scene.run().done == 1)
    try append("two\n")
    #expect(try push().added == 1)
    #expect(try series() == ["app.log.1": "one\nwhole\n", "app.log.2": "one\ntwo\n"])
    try append("three\n")
    try push()
    #expect(try series()["app.log.2"] == "one\ntwo\nthree\n")
  }

  @Test func whatIsKeptIsTheFileAfterEachRun() throws {
    var sent = ""
    func grow(_ text: String) throws {
      try append(text)
      sent += text
      #expect(try push().added == 1)
      #expect(try series()["app.log.1"] == sent)
    }
    for n in 1...5 { try grow(String(repeating: "line \(n)\n", count: n * 3_000)) }
    let counts = try push()
    #expect((counts.added, counts.unchanged) == (0, 1))
    #expect(try scene.commits().count == 5)
    // Appended just before the log is rotated: it is still sent, under the old name.
    try append("last\n")
    move("app.log", to: "app.log.1")
    try append("new\n")
    #expect(try push().added == 2)
    #expect(try series() == ["app.log.1": sent + "last\n", "app.log.2": "new\n"])
    let after = try push()
    #expect((after.added, after.unchanged) == (0, 2))
    // Once more, with nothing appended: nothing is sent under the new names.
    move("app.log.1", to: "app.log.2")
    move("app.log", to: "app.log.1")
    #expect(try push().added == 0)
    let bytes = try series().values.reduce(0) { $0 + $1.utf8.count }
    #expect(bytes == sent.utf8.count + 9, "each byte once")
    #expect(try scene.commits().count == 7)
  }

  @Test func aFileThatWasTruncatedOrRewrittenBeginsAnew() throws {
    let remarks = Lock<[String]>([])
    func run() throws {
      _ = try add { if case .remark(let text) = $0 { remarks.withLock { $0.append(text) } } }
      _ = try scene.run()
      #expect(try findings() == [])
    }
    try append("one\ntwo\n")
    try run()
    #expect(remarks.withLock(\.self) == [])
    try append("1\n", flags: O_TRUNC)
    try run()
    try append("2\n", flags: O_TRUNC)
    try run()
    try append("3\nand more\n", flags: O_TRUNC)
    try run()
    #expect(
      try series() == [
        "app.log.1": "one\ntwo\n", "app.log.2": "1\n", "app.log.3": "2\n",
        "app.log.4": "3\nand more\n",
      ])
    #expect(remarks.withLock(\.count) == 3 && remarks.withLock { $0.allSatisfy { $0.contains("/app.log\"") } })
  }

  /// `copytruncate`: the copy is another file, and a series of its own.
  @Test func aCopyThatIsRotatedIsAnotherFile() throws {
    try append("one\n")
    try push()
    try append("one\ntwo\n", to: "app.log.1")
    try append("three\n", flags: O_TRUNC)
    try push()
    #expect(
      try series() == ["app.log.1": "one\n", "app.log.2": "three\n", "app.log.1.1": "one\ntwo\n"])
  }

  @Test func anEmptyFileIsSentWhenItHasContent() throws {
    try append("")
    #expect(try push().added == 0)
    try append("one\n")
    #expect(try push().added == 1)
    #expect(try series() == ["app.log.1": "one\n"])
  }

  /// Nothing is lost when the process ended between the copy and its row, or before it was sent.
  @Test func whatAKilledProcessLeftIsSentOnce() throws {
    try append("one\n")
    _ = try add()
    try append("two\n")
    try Scene.write([9], to: NameBytes("\(scene.storePath).staged/0123456789abcdef0123456789abcdef"))
    #expect(try push().added == 1)
    #expect(try series() == ["app.log.1": "one\ntwo\n"])
    #expect(try Scene.names(in: scene.storePath + ".staged").isEmpty)
  }

  @Test func aSecondNameOfAFileIsNotSentAgain() throws {
    try append("one\n")
    #expect(link("\(source)/app.log", "\(source)/b.log") == 0)
    #expect(try push().added == 1)
    try append("two\n", to: "b.log")
    #expect(try push().added == 1)
    #expect(try series() == ["app.log.1": "one\ntwo\n"])
  }

  /// More than are copied, and looked up, together.
  @Test func manyFilesGrow() throws {
    for n in 0..<150 { try append("\(n)\n", to: "\(n).log") }
    #expect(try push().added == 150)
    let second = try push()
    #expect((second.added, second.unchanged) == (0, 150))
    for n in 40..<120 { try append("more\n", to: "\(n).log") }
    let third = try push()
    #expect((third.added, third.unchanged) == (80, 70))
    #expect(try series()["99.log.1"] == "99\nmore\n")
    #expect(try series().count == 150)
    let ledger = try Connection(path: scene.storePath, access: .readOnly)
    let bornNs = try SourceFile(path: NameBytes("\(source)/7.log")).bornNs
    let query: StaticString = "SELECT born_ns FROM series WHERE key = CAST('up/7.log' AS BLOB)"
    let recorded = try #require(try ledger.first(query) { $0.int64OrNil(0) })
    #expect(recorded == bornNs)
  }

  @Test func theFolderOfCopiesMayBeUnusable() throws {
    try append("one\n")
    try Scene.write([1], to: NameBytes(scene.storePath + ".staged"))
    let error = #expect(throws: TransferError.self) { try add() }
    #expect(error?.kind == .storeIO && error?.remedy == "fix it, or add without --stage and --growing segments")
  }

  @Test func eachDestinationHasItsOwnSeries() throws {
    try append("one\n")
    _ = try add(to: "/up/")
    try append("two\n")
    _ = try add(to: "/up/", "/in/")
    _ = try scene.run()
    #expect(try series() == ["app.log.1": "one\ntwo\n"])
    #expect(try series(in: "in") == ["app.log.1": "one\ntwo\n"])
    #expect(try scene.commits().count == 3)
  }

  @Test func aCancelledSegmentIsAHoleUntilItIsRetried() throws {
    try append("one\n")
    _ = try add()
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: MovableClock())
    _ = try ledger.control(.cancel, RowFilter())
    ledger.close()
    try append("two\n")
    try push()
    #expect(try series() == ["app.log.1": "two\n"], "a hole")
    try append("three\n", flags: O_TRUNC)
    let again = try Ledger.open(at: scene.storePath, mode: .existing, clock: MovableClock())
    #expect(try again.control(.retry(startsOver: false), RowFilter()).changed.count == 1)
    again.close()
    _ = try scene.run()
    #expect(try series() == ["app.log.1": "one\ntwo\n"])
  }

  @Test func thePlanHasTheSegments() throws {
    func planned() throws -> [String] {
      let lines = Lock<[String]>([])
      _ = try TransferStore(at: scene.storePath).plan([NameBytes(source)], options()) { notice in
        guard case .planned(_, let key?, let size?, let verdict) = notice else { return }
        lines.withLock { $0.append("\(key) \(size) \(verdict)".replacing(/[.][0-9]{13}[.]/, with: ".N.")) }
      }
      return lines.withLock(\.self)
    }
    try append("one\n")
    #expect(try planned() == ["up/app.log.N.000000000000000 4 new"])
    try push()
    #expect(try planned() == ["up/app.log 4 unchanged"])
    try append("and two\n")
    #expect(try planned() == ["up/app.log.N.000000000000004 8 changed"])
    #expect(try scene.commits().count == 1)
  }

  @Test(arguments: ["settle", "ready", "after", "dedupe", "stage", "one object"])
  func whatDoesNotFitIsRefused(_ what: String) throws {
    try append("one\n")
    var options = options()
    switch what {
    case "settle": options.settleMs = 1_000
    case "ready": options.readyFile = "{path}.done"
    case "after": options.fate = .delete
    case "dedupe": options.settings.dedupe = true
    case "stage": options.settings.stage = true
    default: options.settings.destination = "\(scene.url)/up"
    }
    let error = #expect(throws: TransferError.self) {
      try TransferStore(at: scene.storePath).add([NameBytes(source)], options, notice: { _ in })
    }
    #expect(error?.kind == .usage && error?.cause.contains("--growing segments") == true)
  }
}
