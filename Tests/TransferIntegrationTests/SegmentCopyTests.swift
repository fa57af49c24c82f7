import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Copies of segments beside the ledger that are lost or changed. Judged by what the receiver keeps.
@Suite struct SegmentCopyTests {
  private let scene: Scene
  private var source: String { scene.root + "/source" }
  private var folder: String { scene.storePath + ".staged" }

  init() throws { scene = try Scene() }

  private func add(stage: Bool = false) throws -> AddResult {
    var settings = BatchSettings(destination: "\(scene.url)/up/", stage: stage ? true : nil)
    if !stage { settings.growing = .segments }
    return try TransferStore(at: scene.storePath).add(
      [NameBytes(source)], UploadOptions(settings: settings), notice: { _ in })
  }

  private func append(_ text: String, to name: String = "app.log", flags: Int32 = O_APPEND) throws {
    let file = open("\(source)/\(name)", O_WRONLY | O_CREAT | flags, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
  }

  private func copy() throws -> String { "\(folder)/\(try #require(try Scene.names(in: folder).first))" }

  private func deleteCopy() throws { #expect(unlink(try copy()) == 0) }

  /// Other bytes, with the length and the times of the copy.
  private func changeCopy() throws {
    let path = try copy()
    var before = stat()
    #expect(stat(path, &before) == 0)
    try Scene.write(Array(repeating: 0x58, count: Int(before.st_size)), to: NameBytes(path))
    var times = [before.st_atim, before.st_mtim]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  /// The objects in the order of their names.
  private func kept() throws -> String {
    guard let names = try? Scene.names(in: "\(scene.root)/kept/up") else { return "" }
    return try names.sorted().map { String(decoding: try #require(try scene.kept("up/\($0)")), as: UTF8.self) }
      .joined()
  }

  private func findings() throws -> [String] {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: MovableClock())
    defer { ledger.close() }
    return try ledger.read { reader in try reader.check() }.map { "\($0.invariant): \($0.detail)" }
  }

  private func control(_ verb: ControlVerb) throws -> ControlOutcome {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: MovableClock())
    defer { ledger.close() }
    return try ledger.control(verb, RowFilter())
  }

  /// Made again from the growing file: other bytes were appended, and it may have been rotated.
  @Test(arguments: ["deleted", "changed"], [false, true])
  func aCopyIsMadeAgain(what: String, isRotated: Bool) throws {
    try append("one\n")
    _ = try add()
    if isRotated {
      #expect(rename("\(source)/app.log", "\(source)/app.log.1") == 0)
      _ = try add()
    }
    try append("two\n", to: isRotated ? "app.log.1" : "app.log")
    if what == "deleted" { try deleteCopy() } else { try changeCopy() }
    let result = try scene.run()
    #expect((result.done, result.failed) == (1, 0))
    #expect(try kept() == "one\n")
    _ = try add()
    _ = try scene.run()
    #expect(try kept() == "one\ntwo\n")
    #expect(try Scene.names(in: folder) == [])
    #expect(try findings() == [])
  }

  /// The growing file has other bytes by now: the error says what is lost, and its next series is sent.
  @Test(arguments: ["deleted", "changed"]) func whatIsLostIsSaid(what: String) throws {
    try append("one\n")
    _ = try add()
    if what == "deleted" { try deleteCopy() } else { try changeCopy() }
    try append("new\n", flags: O_TRUNC)
    let result = try scene.run()
    #expect((result.done, result.failed) == (0, 1))
    #expect(try kept() == "")
    let row = try #require(try scene.fileRows().first)
    let text = row.message ?? ""
    #expect(text.contains("the copy of bytes 0 to 3 of \"\(source)/app.log\" \(what == "deleted" ? "is gone" : "was")"))
    #expect(text.contains("\"transfers rm\""), "\(text)")
    _ = try control(.remove)
    _ = try add()
    #expect(try scene.run().done == 1)
    #expect(try kept() == "new\n")
    #expect(try findings() == [])
  }

  @Test func aLostCopyOfAWholeFileIsNotAMissingSource() throws {
    try append("one\n")
    _ = try add(stage: true)
    try deleteCopy()
    #expect(try scene.run().failed == 1)
    let message = try scene.fileRows().first?.message ?? ""
    #expect(message.hasPrefix("its staged copy is gone; remove the file from the ledger (\"transfers rm\") and add"))
    _ = try control(.remove)
    _ = try add(stage: true)
    #expect(try scene.run().done == 1)
    #expect(try kept() == "one\n")
  }

  /// Nobody may write to a copy: what was sent then is not a new version of the source.
  @Test func aCopyThatChangesWhileItIsSentIsNotDelivered() throws {
    try append(String(repeating: "a", count: 100_000))
    _ = try add()
    let path = try copy()
    let resolver = Interposed(beforeStart: {
      let file = open(path, O_WRONLY)
      _ = write(file, "b", 1)
      close(file)
    })
    _ = try scene.work(with: resolver)
    let row = try #require(try scene.fileRows().first)
    let expected = String(repeating: "a", count: 100_000)
    #expect(try kept() == (row.state == "done" ? expected : ""), "\(row.state) \(row.message ?? "")")
    #expect(try row.state == "done" || add().counts.requeued == 1)
    _ = try scene.run()
    #expect(try kept() == expected)
    #expect(try findings() == [])
  }

  /// `clean` only hides: the copy may be the only place where the bytes are.
  @Test(arguments: [false, true]) func aHiddenSegmentCanBeRetried(isFailed: Bool) throws {
    try append("one\n")
    _ = try add()
    if isFailed {
      _ = try scene.work(with: Interposed(refusal: { _ in TransferError(.config, "resolve", cause: "no") }))
    }
    _ = try control(.cancel)
    #expect(try control(.clean(failed: true)).changed.count == 1)
    try append("new\n", flags: O_TRUNC)
    _ = try scene.run()
    #expect(try Scene.names(in: folder).count == 1)
    #expect(try control(.retry(startsOver: false)).changed.count == 1)
    #expect(try scene.run().done == 1)
    #expect(try kept() == "one\n")
  }
}
