import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// Profiles through the built program.
@Suite struct ProfileTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }

  init() throws { program = try BuiltProgram() }

  private func file(_ name: String, _ text: String) throws -> String {
    try writeFile("\(folder)/\(name)", Array(text.utf8))
    return "\(folder)/\(name)"
  }

  @Test(arguments: ["text", "json"]) func theListShowsWhatEachOneDoes(_ format: String) throws {
    let outcome = try program.run("profile", "list", "--format", format == "text" ? "table" : format)
    #expect(outcome.code == 0, "\(outcome.err)")
    try Golden.expect("profile list.\(format)", outcome.out, hiding: "\(folder)/")
  }

  @Test(arguments: ProfileLibrary.names) func whatIsShownCanBeUsed(_ name: String) throws {
    let shown = try program.run("profile", "show", name)
    #expect(shown.code == 0)
    let path = try file("mine.yaml", shown.out)
    let checked = try program.run("profile", "check", path)
    #expect(checked.code == 0 && checked.out.hasPrefix("ok: \(name), sha256 "), "\(checked.out)")
  }

  private static let wrong =
    "profile: 1\nname: x\nchunk: {sizee: 4}\nsteps:\n  chunk: {method: PUT, url: \"{{file.nam}}\", body: {kind: raw}}\n"

  @Test(arguments: ["text", "json"]) func everythingThatIsWrongIsShownWithItsPlace(_ format: String) throws {
    let path = try file("wrong.yaml", Self.wrong)
    let outcome = try program.run("profile", "check", path, "--format", format == "text" ? "table" : format)
    #expect(outcome.code == ExitCode.config.rawValue)
    #expect(outcome.err.contains("2 faults"), "\(outcome.err)")
    try Golden.expect("profile check.\(format)", outcome.out, hiding: folder)
  }

  @Test(arguments: ["text", "json"]) func whatWouldBeSentIsShownWithoutSecrets(_ format: String) throws {
    let source = try file("a b.txt", "0123456789")
    var times = [timespec(tv_sec: 784_111_777, tv_nsec: 0), timespec(tv_sec: 784_111_777, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, source, &times, 0) == 0)
    let outcome = try program.run(
      [
        "profile", "try", "token-blocks", "--file", source, "--to", "https://host/api", "--part-size", "4", "--format",
        format == "text" ? "table" : format,
      ].map { Array($0.utf8) }, environment: ["APP_TOKEN": "v3ry-s3cret"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(!outcome.out.contains("v3ry-s3cret"))
    try Golden.expect("profile try.\(format)", outcome.out, hiding: folder)
  }

  @Test func aFolderGoesThroughAProfile() throws {
    let receiver = try RunningReceiver(in: program.folder)
    mkdir(folder + "/src", 0o700)
    _ = try file("src/a", "content of a")
    let store = folder + "/l.db"
    let words = ["push", folder + "/src", receiver.url + "/-/blocks", "--via", "token-blocks", "--store", store]
    let outcome = try program.run(
      (words + ["--input", "app_token=env:SECRET"]).map { Array($0.utf8) }, environment: ["SECRET": "v3ry-s3cret"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try readText(receiver.root + "/a") == "content of a")
    let again = try program.run(
      (words + ["--input", "app_token=env:SECRET"]).map { Array($0.utf8) }, environment: ["SECRET": "v3ry-s3cret"])
    #expect(again.out.hasPrefix("0 new, 1 unchanged"), "\(again.out)")
    for path in [store, store + "-wal"] {
      let bytes = try readText(path)
      #expect(!bytes.contains("v3ry-s3cret"), "\(path)")
    }
  }

  @Test(arguments: [
    (["--via", "nothing"], "there is no such file, and no built-in profile"),
    (["--via", "graph", "--input", "drive=d"], "its input \"token\" is missing"),
    (["--via", "graph", "--input", "token=plain", "--input", "drive=d"], "is a secret, and command lines are visible"),
    (["--via", "graph", "--input", "folder=d"], "it has no input \"folder\""),
    (["--input", "a=b"], "--input is for profiles"),
    (["--via", "flow", "--auth", "bearer=env:X"], "read --auth: not supported for this destination"),
    (["--via", "google", "--part-size", "100KiB"], "in multiples of 262144"),
  ])
  func wrongUseIsSaid(_ words: [String], _ expected: String) throws {
    let source = try file("a", "x")
    let outcome = try program.run(
      (["add", source, "https://host/x", "--store", folder + "/l.db"] + words).map { Array($0.utf8) })
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(expected), "\(outcome.err)")
  }

  private static let thief = """
    profile: 1
    name: graph
    inputs: [{name: a, secret: true}]
    steps:
      chunk: {method: PUT, url: "URL/{{uuid}}", headers: {X-A: "{{input.a | default('none')}}"}, body: {kind: raw}}
    """

  /// A foreign profile cannot do so by naming a variable, by using the name of a built-in profile, or by naming another
  /// host.
  @Test func aFileOfSomebodyElseTakesNothingAndSendsNowhereElse() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let source = try file("a", "x")
    let words = ["push", source, "http://127.0.0.1:1/", "--store", folder + "/l.db", "--via"]
    let secrets = ["AWS_SECRET_ACCESS_KEY": "v3ry-s3cret", "GRAPH_TOKEN": "v3ry-s3cret"]
    func push(_ text: String, _ more: [String] = []) throws -> BuiltProgram.Outcome {
      try program.run((words + [try file("p.yaml", text)] + more).map { Array($0.utf8) }, environment: secrets)
    }
    let elsewhere = Self.thief.replacing("URL", with: receiver.url)
    let taking = elsewhere.replacing("secret: true", with: "secret: true, env: AWS_SECRET_ACCESS_KEY")
    let taken = try push(taking)
    #expect(taken.code == ExitCode.config.rawValue && taken.err.contains("cannot take variables"), "\(taken.err)")
    let sent = try push(elsewhere)
    #expect(sent.code == 64 && sent.err.contains("--allow-host 127.0.0.1:"), "\(sent.err)")
    #expect(access(folder + "/l.db", F_OK) != 0)
    let host = String(receiver.url.dropFirst(7))
    let allowed = try push(elsewhere, ["--allow-host", host])
    #expect(allowed.code == 0, "\(allowed.err)")
    #expect(
      try program.run("profile", "check", folder + "/p.yaml").out.contains(
        "\nsends to                    the destination, \(receiver.url)")
    )
  }

  @Test func aDryRunAndACheckNameHostsAndVariables() throws {
    let source = try file("a", "x")
    let path = try file("p.yaml", Self.thief.replacing("URL", with: "https://else.test"))
    let plan = [
      "push", "-n", source, "https://good.test/", "--store", folder + "/l.db", "--via", path, "--input", "a=env:MY_KEY",
      "--allow-host", "else.test",
    ]
    let shown = try program.run(plan.map { Array($0.utf8) })
    #expect(
      shown.out.contains("contacts https://good.test, https://else.test, with MY_KEY from the environment\n"),
      "\(shown.out)")
    let json = try program.run((plan + ["--json"]).map { Array($0.utf8) })
    #expect(json.out.contains(#""hosts":"https://good.test https://else.test""#), "\(json.out)")
    #expect(json.out.contains(#""variables":"MY_KEY""#), "\(json.out)")
    let checked = try program.run("profile", "check", "graph")
    #expect(
      checked.out.hasSuffix(
        "\nsends to                    the destination, URLs that the server names (probe, chunk, abort)\nreads from the environment  GRAPH_TOKEN (input token)\n"
      ), "\(checked.out)")
  }

  /// Only the reference is recorded, whether or not the value is a secret.
  @Test func whatIsGivenByReferenceIsNotStored() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let source = try file("a", "content of a")
    let text = """
      profile: 1
      name: p
      inputs: [{name: folder}]
      steps: {chunk: {method: PUT, url: "/{{input.folder}}/{{file.name}}", body: {kind: raw}}}
      """
    let store = folder + "/l.db"
    let words = [
      "push", source, receiver.url, "--store", store, "--via", try file("p.yaml", text), "--input", "folder=env:MINE",
    ]
    let outcome = try program.run(words.map { Array($0.utf8) }, environment: ["MINE": "v3ry-own-f0lder"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try readText(receiver.root + "/v3ry-own-f0lder/a") == "content of a")
    for path in [store, store + "-wal"] { #expect(!(try readText(path).contains("v3ry-own"))) }
  }

  @Test func aProfileWithFaultsStopsTheBatch() throws {
    let (path, source) = (try file("wrong.yaml", Self.wrong), try file("a", "x"))
    let outcome = try program.run("add", source, "https://host/x", "--store", folder + "/l.db", "--via", path)
    #expect(outcome.code == ExitCode.config.rawValue)
    #expect(outcome.err.contains("line 3, column 9") && outcome.err.contains("(and 1 more)"), "\(outcome.err)")
  }
}
