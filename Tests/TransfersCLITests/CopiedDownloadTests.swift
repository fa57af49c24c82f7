import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Files of which a part was transferred when the ledger was copied: the copy leaves alone what the original still
/// uses, in the target folder and on the server.
@Suite struct CopiedDownloadTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let object = ScriptedObject(size: 6 * Self.partSize + 100)
  private static let partSize = 64 << 10
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var copy: String { folder + "/copy.db" }

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [object] in object.answer($0) }
    mkdir(program.folder.path + "/in", 0o700)
  }

  private func run(_ store: String, _ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", store]).map { Array($0.utf8) })
  }

  /// Fetches three ranges, and copies the ledger. Returns the name of the partial file.
  private func begin() throws -> String {
    let outcome = try run(
      store, "pull", server.url + "/d/big", folder + "/in", "--part-size", "64K", "--max-bytes", "192K")
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(try run(store, "store", "backup", copy).code == 0)
    object.state.withLock { $0.bytesSent = 0 }
    let names = try names(in: folder + "/in")
    #expect(names.count == 1 && names[0].hasSuffix(".part"), "\(names)")
    return names[0]
  }

  private func expectWhole() throws {
    #expect(try readText(folder + "/in/big") == object.state.withLock { $0.text })
    for store in [store, copy] { #expect(try run(store, "store", "check").code == 0) }
  }

  /// The original continues where it was.
  private func expectTheRest() throws {
    let outcome = try run(store, "run")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(object.state.withLock { $0.bytesSent } == 3 * Self.partSize + 100)
    try expectWhole()
  }

  @Test func whatACopyGivesUpTheOriginalKeeps() throws {
    let partial = try begin()
    #expect(try run(copy, "cancel", "--all").code == 0)
    _ = try run(copy, "run")
    _ = try run(copy, "gc")
    #expect(try names(in: folder + "/in") == [partial])
    try expectTheRest()
  }

  @Test func aCopyFetchesIntoAFileOfItsOwn() throws {
    let partial = try begin()
    let outcome = try run(copy, "run", "--max-bytes", "64K")
    #expect(outcome.code == 5, "\(outcome.err)")
    let both = try names(in: folder + "/in")
    #expect(both.count == 2 && both.contains(partial), "\(both)")
    object.state.withLock { $0.bytesSent = 0 }
    // What it made itself it removes.
    #expect(try run(copy, "cancel", "--all").code == 0)
    _ = try run(copy, "run")
    #expect(try names(in: folder + "/in") == [partial])
    try expectTheRest()
  }

  /// A person says that the original is not used any more.
  @Test func aTrustedCopyContinues() throws {
    _ = try begin()
    let outcome = try run(copy, "run", "--trust-copy")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(object.state.withLock { $0.bytesSent } == 3 * Self.partSize + 100)
    #expect(try names(in: folder + "/in") == ["big"])
    try expectWhole()
  }

  @Test func aTrustedCopyRemovesWhatItGivesUp() throws {
    _ = try begin()
    #expect(try run(copy, "cancel", "--all").code == 0)
    _ = try run(copy, "run")
    _ = try run(copy, "run", "--trust-copy")
    #expect(try names(in: folder + "/in").isEmpty)
    #expect(try run(copy, "store", "check").code == 0)
  }

  /// An upload that the original is to continue is not aborted on the server.
  @Test func theUploadOfTheOriginalStays() throws {
    let receiver = try RunningReceiver(in: program.folder)
    try writeFile(folder + "/source", Array(repeating: 7, count: 400_000))
    let pushed = try run(
      store, "push", folder + "/source", "tus+\(receiver.url)/-/tus/", "--part-size", "64K", "--max-bytes", "192K")
    #expect(pushed.code == 5, "\(pushed.err)")
    #expect(try run(store, "store", "backup", copy).code == 0)
    #expect(try run(copy, "cancel", "--all").code == 0)
    _ = try run(copy, "run")
    let outcome = try run(store, "run", "--json")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("\"bytes_transferred\":\(400_000 - 3 * Self.partSize)"), "\(outcome.out)")
  }
}
