import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// What lies at the target of a `pull` already, what it is told by lists, and what it says then.
@Suite struct PullTargetsTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let object = ScriptedObject(size: 5_000)
  private var text: String { object.state.withLock { $0.text } }
  private var requests: Int { object.state.withLock { $0.ranges.count } }
  private var folder: String { program.folder.path + "/in" }

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [object] in object.answer($0) }
    mkdir(program.folder.path + "/in", 0o700)
  }

  private func pull(_ words: String..., input: String? = nil) throws -> BuiltProgram.Outcome {
    let words = ["pull", "--store", program.folder.path + "/l.db"] + words
    return try program.run(words.map { Array($0.utf8) }, input: input)
  }

  /// A signed URL is refused before anything is recorded, whatever server signed it.
  @Test(arguments: ["md5=SECRETMD5&expires=12", "hdnts=exp=1795723456~hmac=SECRETMD5", "st=4nGX2N-xUhEyrPQe5jHEFg"])
  func aSignedURLIsNotStored(_ query: String) throws {
    let outcome = try pull(server.url + "/a?" + query, folder)
    #expect(outcome.code == ExitCode.usage.rawValue && outcome.err.contains("--url-command"), "\(outcome.err)")
    #expect(!outcome.err.contains("SECRET"))
    #expect(access(program.folder.path + "/l.db", F_OK) != 0 && requests == 0)
    let list = program.folder.path + "/list.csv"
    try writeFile(list, Array("url,path\n\(server.url)/a?\(query),a\n".utf8))
    let listed = try pull("--files-from", list, folder)
    #expect(listed.code == ExitCode.badData.rawValue && listed.err.contains("--url-command"), "\(listed.err)")
  }
}
