import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Files that the built program writes to standard output or into an archive.
@Suite struct PullStreamTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let object = ScriptedObject(size: 2 << 20)
  private var text: String { object.state.withLock { $0.text } }

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [object] in object.answer($0) }
  }

  /// The file goes to standard output, and its report to standard error, as text and as JSON.
  @Test func theFileGoesToStandardOutput() throws {
    let digest = "sha256:" + String(repeating: "0", count: 64)
    let plain = try program.run("pull", server.url + "/a", "-")
    #expect(plain.code == 0 && plain.out == text)
    #expect(plain.err.hasPrefix("1 file, ") && plain.err.contains(", confirmed by size"), "\(plain.err)")
    let json = try program.run("pull", server.url + "/a", "-", "--json")
    #expect(json.code == 0 && json.out == text && json.err.contains("\"type\":\"streamed\""))
    let wrong = try program.run("pull", server.url + "/a", "-", "--digest", digest)
    #expect(wrong.code == ExitCode.mismatch.rawValue && wrong.out == text && wrong.err.contains("integrity.mismatch"))
  }

  @Test func aReaderThatIsGoneEndsItQuietly() throws {
    let outcome = try program.runIntoClosedPipe("pull", server.url + "/a", "-")
    #expect(outcome.code == ExitCode.closed.rawValue && outcome.err.isEmpty, "\(outcome.err)")
  }

  @Test(arguments: ["--no-run", "--sparse", "--overwrite", "--segments=2", "--name=n", "--workers=3"])
  func whatSaysNothingAboutAStreamIsRefused(_ flag: String) throws {
    let outcome = try program.run("pull", server.url + "/a", "-", flag)
    #expect(outcome.code == ExitCode.usage.rawValue && outcome.out.isEmpty)
  }

  /// Standard output takes one file, and an archive takes many. Only an archive that is written to a file replaces one.
  @Test func anArchiveTakesManyFiles() throws {
    #expect(try program.run("pull", server.url + "/a", server.url + "/b", "-").code == ExitCode.usage.rawValue)
    let path = program.folder.path + "/x.tar"
    let urls = [server.url + "/a", server.url + "/b"]
    let first = try program.run((["pull", "--into-tar", path] + urls).map { Array($0.utf8) })
    #expect(first.code == 0, "\(first.err)")
    let again = try program.run((["pull", "--into-tar", path] + urls).map { Array($0.utf8) })
    #expect(again.code != 0 && again.err.contains("policy.exists"))
    let replaced = try program.run((["pull", "--into-tar", path, "--overwrite"] + urls).map { Array($0.utf8) })
    #expect(replaced.code == 0, "\(replaced.err)")
    let pipe = program.folder.path + "/piped.tar"
    let piped = try program.run((["pull", "--into-tar", "-"] + urls).map { Array($0.utf8) }, out: pipe)
    var status = stat()
    #expect(piped.code == 0 && stat(pipe, &status) == 0 && status.st_size == 2 * (512 + 2_097_152) + 1_024)
  }
}
