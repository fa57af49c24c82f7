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

  /// Of an object that was uploaded in parts the server is asked for their length, but not for a list of them: the
  /// checksum of their checksums cannot be compared.
  @Test func anObjectOfPartsGoesToStandardOutput() throws {
    let (object, questions) = (ScriptedObject(size: 6 << 20), Lock<[String]>([]))
    let etag = "\"0123456789abcdef-2\""
    object.state.withLock { $0.etag = etag }
    let server = try ScriptedServer { request in
      if request.target.contains("?") { questions.withLock { $0.append(request.target) } }
      guard request.method == "HEAD" else { return object.answer(request) }
      let text = object.state.withLock { $0.text }
      guard request.target.contains("partNumber=1") else {
        let checksum = [("x-amz-checksum-type", "COMPOSITE"), ("x-amz-checksum-crc32c", "AAAAAQ==-2")]
        return .init(headers: [("ETag", etag)] + checksum, body: text)
      }
      let part = String(decoding: Array(text.utf8).prefix(4 << 20), as: UTF8.self)
      let fields = [("ETag", etag), ("x-amz-mp-parts-count", "2"), ("Content-Range", "bytes 0-4194303/6291456")]
      return .init(status: 206, headers: fields, body: part)
    }
    let outcome = try program.run(
      ["pull", "s3://bucket/k", "-"].map { Array($0.utf8) },
      environment: [
        "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "canary-pull-stream", "AWS_ENDPOINT_URL": server.url,
      ])
    let isWhole = outcome.out == object.state.withLock { $0.text }
    #expect(outcome.code == 0 && isWhole, "\(outcome.err)")
    #expect(questions.withLock { $0 } == ["/bucket/k?partNumber=1"])
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

  /// Only files get permissions and owners.
  @Test(arguments: ["--keep-mode", "--keep-owner"])
  func aStreamKeepsNoPermissions(_ flag: String) throws {
    for target in [["-"], ["--into-tar", program.folder.path + "/x.tar"]] {
      let words = ["pull", flag, "--endpoint-url", server.url, "s3://bucket/k"] + target
      let outcome = try program.run(words.map { Array($0.utf8) })
      #expect(
        outcome.code == ExitCode.usage.rawValue && outcome.err.contains("\(flag) does not apply"), "\(outcome.err)")
    }
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

  /// Nothing remains of an archive that is not complete, whatever ends the program.
  @Test(arguments: [SIGTERM, SIGINT, SIGKILL]) func anInterruptedArchiveLeavesNoFile(_ number: Int32) throws {
    let isAsked = Mailbox<Void>()
    let server = try ScriptedServer { [object] request in
      guard request.target == "/b" else { return object.answer(request) }
      isAsked.put(())
      return nil
    }
    let folder = program.folder.path + "/to"
    mkdir(folder, 0o700)
    // Only a file without a name is gone whatever happens.
    let unnamed = open(folder, O_WRONLY | O_DIRECTORY | 0o20_000_000, 0o600)
    if number == SIGKILL, unnamed < 0 { return }
    close(unnamed)
    let pull = try program.start("pull", "--into-tar", folder + "/x.tar", server.url + "/a", server.url + "/b")
    #expect(isAsked.take(timeoutMs: 60_000) != nil)
    pull.signal(number)
    #expect(try pull.wait().signal == number)
    #expect(try names(in: folder) == [])
  }

  /// A list of deduplicated content names one file several times. An archive has all of them; a ledger has one row for
  /// the file, and what it advises helps.
  @Test func anArchiveTakesOneFileUnderTwoNames() throws {
    let (list, path) = (program.folder.path + "/l.csv", program.folder.path + "/x.tar")
    try writeFile(list, Array("url,path\n\(server.url)/a,one\n\(server.url)/a,two\n".utf8))
    let archive = try program.run("pull", "--into-tar", path, "--files-from", list)
    var status = stat()
    #expect(archive.code == 0 && stat(path, &status) == 0, "\(archive.err)")
    #expect(status.st_size == 2 * (512 + 2_097_152) + 1_024)
    let store = program.folder.path + "/l.db"
    let recorded = try program.run("pull", "--store", store, "--files-from", list, program.folder.path)
    let isHelpful = recorded.err.contains("list it once, and copy the file afterwards; nothing was recorded")
    #expect(recorded.code == ExitCode.usage.rawValue && isHelpful, "\(recorded.err)")
  }
}
