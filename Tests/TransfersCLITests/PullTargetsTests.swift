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

  /// The same path at another server, or at the same one with another scheme, is another file: it is not counted as
  /// unchanged without a request.
  @Test func aFileOfAnotherServerIsNotUnchanged() throws {
    let other = try ScriptedServer { [object] in object.answer($0) }
    #expect(try pull(server.url + "/a", folder).code == 0)
    #expect(try pull(server.url + "/a", folder).out.contains("1 unchanged"))
    for url in [other.url, server.url.replacing("http:", with: "https:")] {
      let again = try pull(url + "/a", folder)
      #expect(again.code != 0 && !again.out.contains("1 unchanged"), "\(again.out) \(again.err)")
      #expect(again.err.contains("policy.exists") || again.out.contains("policy.exists"), "\(again.out) \(again.err)")
    }
    #expect(try readText(folder + "/a") == text)
  }

  /// `--overwrite` replaces regular files only.
  @Test(arguments: ["link", "fifo", "folder"]) func nothingButAFileIsReplaced(_ kind: String) throws {
    let path = folder + "/a"
    switch kind {
    case "link": symlink("elsewhere", path)
    case "fifo": mkfifo(path, 0o600)
    default: mkdir(path, 0o700)
    }
    var (before, after) = (stat(), stat())
    lstat(path, &before)
    let outcome = try pull("--overwrite", server.url + "/a", folder)
    #expect(outcome.code != 0)
    #expect((outcome.out + outcome.err).contains("--overwrite replaces only files"), "\(outcome.out) \(outcome.err)")
    #expect(lstat(path, &after) == 0 && before.st_ino == after.st_ino && before.st_mode == after.st_mode)
    #expect(requests == 0)
    let tar = try program.run("pull", "--into-tar", path, "--overwrite", server.url + "/a")
    #expect(tar.code != 0 && tar.err.contains("--overwrite replaces only files"), "\(tar.err)")
    let plain = try program.run("pull", "--into-tar", path, server.url + "/a")
    #expect(plain.code != 0 && !plain.err.contains("replaces it"), "\(plain.err)")
  }

  @Test(arguments: [[], ["-n"]]) func aFileIsNoTargetFolder(_ options: [String]) throws {
    let path = folder + "/f"
    try writeFile(path, [0x41])
    let words = ["pull", "--store", program.folder.path + "/l.db"] + options + [server.url + "/a", path]
    let outcome = try program.run(words.map { Array($0.utf8) })
    #expect(outcome.code == ExitCode.usage.rawValue && outcome.err.contains("name a folder"), "\(outcome.err)")
    #expect(requests == 0)
  }

  /// It may be a download that failed. A table with a header and no rows names no files, and is valid.
  @Test(arguments: ["SHA256SUMS", "urls.txt", "t.csv", "m.meta4"])
  func aListWithoutAByteIsAnError(_ name: String) throws {
    let path = program.folder.path + "/" + name
    try writeFile(path, [])
    let words = ["--base-url", server.url + "/", "--files-from"]
    for (list, input) in [(path, nil), ("-", "")] as [(String, String?)] {
      let outcome = try pull(words[0], words[1], words[2], list, folder, input: input)
      #expect(outcome.code == ExitCode.badData.rawValue && outcome.err.contains("it is empty"), "\(outcome.err)")
    }
    try writeFile(path + ".csv", Array("url,path\n".utf8))
    let header = try pull(words[0], words[1], words[2], path + ".csv", folder)
    #expect(header.code == 0, "\(header.err)")
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

  /// Also without messages, the command says what happened.
  @Test func aQuietPullSaysWhyThereIsNoURL() throws {
    let quiet = try pull("-q", "--url-command", "/bin/false", server.url + "/a", folder)
    #expect(quiet.code == ExitCode.workLeft.rawValue && requests == 0)
    #expect(quiet.err.contains("files wait for URLs: the command ended with exit code 1"), "\(quiet.err)")
    let missing = try pull("-q", "--url-command", folder + "/none", server.url + "/b", folder)
    #expect(missing.code == ExitCode.workLeft.rawValue)
    #expect(missing.err.contains("files wait for URLs: the command cannot be started"), "\(missing.err)")
  }

  /// What a mirror did is not said of the server of the file.
  @Test func reportsNameTheMirror() throws {
    let own = try ScriptedServer { _ in .init(status: 404) }
    let mirror = try ScriptedServer { _ in .init(status: 410) }
    let list = program.folder.path + "/list.csv"
    try writeFile(list, Array("url,path,mirrors\n\(own.url)/a,a,\(mirror.url)/a\n".utf8))
    #expect(try pull("--files-from", list, folder).code == ExitCode.allFailed.rawValue)
    func report(_ words: String...) throws -> [String] {
      let outcome = try program.run(
        (["report"] + words + ["--format", "csv", "--store", program.folder.path + "/l.db"]).map { Array($0.utf8) })
      #expect(outcome.code == 0, "\(outcome.err)")
      return outcome.out.split(whereSeparator: \.isNewline).map(String.init)
    }
    let (ownHost, mirrorHost) = (String(own.url.dropFirst(7)), String(mirror.url.dropFirst(7)))
    let failures = try report("failures", "--by", "code,host")
    #expect(failures.contains { $0.contains("http.410") && $0.contains(mirrorHost) }, "\(failures)")
    #expect(!failures.contains { $0.contains("http.410") && $0.contains(ownHost) }, "\(failures)")
    let hosts = try report("hosts", "--columns", "host,files,attempts,errors")
    // The removal of the partial file is no request.
    #expect(hosts.contains("\(mirrorHost),1,1,1") && hosts.contains("\(ownHost),1,1,1"), "\(hosts)")
  }

  @Test func aQuietPlanDoesNotSayThatThereIsNothing() throws {
    let plan = try pull("-n", "-q", server.url + "/a", folder)
    #expect(plan.code == 0 && plan.out.contains("would fetch 1 file"), "\(plan.out) \(plan.err)")
    #expect(!plan.out.contains("nothing to"), "\(plan.out)")
  }

  /// Repeating the command would not help.
  @Test func whatAStreamAdvisesCanHelp() throws {
    let page = try ScriptedServer { _ in .init(headers: [("Content-Type", "text/html")], body: "<p>log in") }
    let login = try program.run("pull", page.url + "/a.zip", "-")
    #expect(login.code != 0 && !login.err.contains("again") && login.err.contains("--auth"), "\(login.err)")
    let archive = try program.run("pull", "--into-tar", folder + "/none/x.tar", server.url + "/a")
    #expect(archive.code != 0 && archive.err.contains("create the folder"), "\(archive.err)")
  }
}
