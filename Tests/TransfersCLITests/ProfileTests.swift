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
    (["--via", "graph", "--input", "token=plain", "--input", "drive=d"], "is a secret, and command lines are seen"),
    (["--via", "graph", "--input", "folder=d"], "it has no input \"folder\""),
    (["--input", "a=b"], "--input is for profiles"),
    (["--via", "flow", "--auth", "bearer=env:X"], "read --auth: this destination does not know it"),
    (["--via", "google", "--part-size", "100KiB"], "in multiples of 262144"),
  ])
  func wrongUseIsSaid(_ words: [String], _ expected: String) throws {
    let source = try file("a", "x")
    let outcome = try program.run(
      (["add", source, "https://host/x", "--store", folder + "/l.db"] + words).map { Array($0.utf8) })
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(expected), "\(outcome.err)")
  }

  @Test func aProfileWithFaultsStopsTheBatch() throws {
    let (path, source) = (try file("wrong.yaml", Self.wrong), try file("a", "x"))
    let outcome = try program.run("add", source, "https://host/x", "--store", folder + "/l.db", "--via", path)
    #expect(outcome.code == ExitCode.config.rawValue)
    #expect(outcome.err.contains("line 3, column 9") && outcome.err.contains("(and 1 more)"), "\(outcome.err)")
  }
}
