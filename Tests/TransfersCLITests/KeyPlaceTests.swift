import Glibc
import Testing

/// Destinations with the same URL but different objects, checked by what the bundled server stored.
@Suite struct KeyPlaceTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder)
    mkdir(program.folder.path + "/in", 0o700)
    try writeFile(program.folder.path + "/in/f", Array("first".utf8))
  }

  private func transfers(_ words: String...) throws -> BuiltProgram.Outcome { try transfers(words) }

  private func transfers(_ words: [String]) throws -> BuiltProgram.Outcome {
    try program.run(
      (words + ["--store", folder + "/l.db"]).map { Array($0.utf8) },
      environment: ["TOK": "v3ry-s3cret", "OTHER": "an0ther-s3cret"])
  }

  private func dropbox(_ verb: String, _ prefix: String, _ more: String..., token: String = "TOK") throws
    -> BuiltProgram.Outcome
  {
    let place: [String] = [verb, folder + "/in", receiver.url + "/-/dropbox/2/files", "--via", "dropbox"]
    let outcome = try transfers(place + ["--input", "token=env:\(token)", "--input", "prefix=\(prefix)"] + more)
    #expect(outcome.code == 0, "\(outcome.err)")
    return outcome
  }

  private func stored(_ path: String) -> String? { try? readText(receiver.root + path) }

  @Test func eachPrefixOfAProfileGetsTheFile() throws {
    #expect(try dropbox("push", "/a/").out.contains("1 new"))
    #expect(try dropbox("push", "/b/").out.contains("1 new"))
    #expect(stored("/a/f") == "first" && stored("/b/f") == "first")
    #expect(try dropbox("push", "/b/").out.contains("0 new, 1 unchanged"))
    #expect(try dropbox("push", "/b/", token: "OTHER").out.contains("1 new"))
    let files = try transfers("list", "files", "--json", "--columns", "destination")
    #expect(files.out.contains("/-/dropbox/2/files/ via dropbox with prefix=/b/&token=env:OTHER"), "\(files.out)")
    for path in ["/l.db", "/l.db-wal"] where access(folder + path, F_OK) == 0 {
      #expect(!(try readText(folder + path).contains("s3cret")))
    }
  }

  @Test func aFileForAnotherPrefixSupersedesNothing() throws {
    _ = try dropbox("add", "/a/")
    try writeFile(folder + "/in/f", Array("and longer".utf8))
    _ = try dropbox("add", "/b/")
    _ = try transfers("run")
    #expect(stored("/b/f") == "and longer")
    #expect(stored("/a/f") == "and longer")
  }

  @Test func aSourceStaysUntilItsOwnPrefixHasTheFile() throws {
    _ = try dropbox("push", "/a/")
    _ = try dropbox("push", "/b/", "--after", "delete")
    #expect(stored("/b/f") == "first")
  }

  private static let servers: [(scheme: String, path: String, kept: String)] = [
    ("", "/up/", "/up/f"), ("dav+", "/up/", "/up/f"), ("form+", "/-/form/", "/f"),
    ("davpatch+", "/-/davpatch/up/", "/up/f"), ("tus+", "/-/tus/", "/f"), ("resumable+", "/-/resumable/", "/f"),
  ]

  /// Each account may have its own folder at the same URL.
  @Test(arguments: servers.indices) func eachAccountGetsTheFile(_ index: Int) throws {
    let server = Self.servers[index]
    func push(_ auth: String...) throws -> String {
      let place = ["push", folder + "/in", server.scheme + receiver.url + server.path]
      let outcome = try program.run(
        (place + auth.flatMap { ["--auth", $0] } + ["--store", folder + "/l.db"]).map { Array($0.utf8) },
        environment: ["ONE": "one:v3ry-s3cret", "TWO": "two:an0ther-s3cret"])
      #expect(outcome.code == 0, "\(server): \(outcome.err)")
      return outcome.out
    }
    for auth in [["basic=env:ONE"], ["basic=env:TWO"], ["bearer=env:TWO"], []] {
      #expect(try auth.isEmpty ? push().contains("1 new") : push(auth[0]).contains("1 new"), "\(server) \(auth)")
      #expect(stored(server.kept) == "first", "\(server) \(auth)")
      unlink(receiver.root + server.kept)
    }
    #expect(try push("basic=env:ONE").contains("0 new, 1 unchanged") && stored(server.kept) == nil, "\(server)")
    let files = try transfers("list", "files", "--json", "--columns", "destination")
    #expect(files.out.contains("auth=basic:env:TWO\""), "\(files.out)")
    for path in ["/l.db", "/l.db-wal"] where access(folder + path, F_OK) == 0 {
      #expect(!(try readText(folder + path).contains("s3cret")))
    }
  }

  private func form(_ fields: String...) throws -> BuiltProgram.Outcome {
    let outcome = try transfers(
      ["push", folder + "/in", "form+" + receiver.url + "/-/form/"] + fields.flatMap { ["--field", $0] })
    #expect(outcome.code == 0, "\(outcome.err)")
    return outcome
  }

  @Test func eachFieldOfAFormGetsTheFile() throws {
    #expect(try form("key=a/{name}").out.contains("1 new"))
    #expect(try form("key=b/{name}", "x=1").out.contains("1 new"))
    #expect(stored("/a/f") == "first" && stored("/b/f") == "first")
    #expect(try form("x=1", "key=b/{name}").out.contains("0 new, 1 unchanged"))
  }
}
