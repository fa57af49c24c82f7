import Glibc
import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// Messages are true, name their subject, and say what to do.
@Suite struct WordingTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var source: String { folder + "/src" }

  init() throws {
    program = try BuiltProgram()
    mkdir(source, 0o700)
    for name in ["a", "b.tmp"] { try writeFile("\(source)/\(name)", Array("content of \(name)".utf8)) }
  }

  private func run(
    _ arguments: String..., store: String? = nil, input: String? = nil, environment: [String: String] = [:]
  ) throws -> BuiltProgram.Outcome {
    let all = arguments + ["--store", store ?? self.store]
    return try program.run(all.map { Array($0.utf8) }, environment: environment, input: input)
  }

  @Test func aPlanKnowsNoKeyOfWhatIsLeftOut() throws {
    let outcome = try run("push", "-nv", "--exclude", "*.tmp", "--format", "ndjson", source, "http://h/in/")
    let row = outcome.out.split(separator: "\n").first { $0.contains("b.tmp") } ?? ""
    #expect(row.contains(#""bytes":null,"key":null"#), "\(outcome.out)")
  }

  @Test func whatAListNamesTwiceIsCountedOnce() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let list = "src/a\nsrc/b.tmp\nsrc/a\n"
    let first = try run("push", "--base", folder, "-", receiver.url + "/in/", input: list)
    #expect(first.out.hasPrefix("b1: 2 new, 0 unchanged, 1 named again"), "\(first.out)\(first.err)")
    let second = try run("push", "--base", folder, "-", receiver.url + "/in/", input: list)
    #expect(second.out.hasPrefix("0 new, 2 unchanged, 1 named again"), "\(second.out)")
  }

  @Test func whyThereIsNothingToShow() throws {
    let filled = try FilledLedger(in: program.folder).path
    #expect(try run("status", "--host", "nowhere", store: filled).out.hasSuffix("\nnothing matches\n"))
    #expect(try run("report", "--host", "nowhere", store: filled).out == "nothing matches\n")
    #expect(try run("rm", "--all", store: filled).code == 0)
    #expect(
      try run("status", store: filled).out.hasSuffix("\nnothing is left to show; 5 files hidden: --hidden shows them\n")
    )
    #expect(try run("status", "--hidden", store: filled).out.contains("files "))
    #expect(try run("status", "--hidden", "--host", "nowhere", store: filled).out.hasSuffix("\nnothing matches\n"))
  }

  @Test func whatWasCancelledIsTakenUpAgain() throws {
    let filled = try FilledLedger(in: program.folder).path
    #expect(try run("cancel", "f5", store: filled).code == 0)
    #expect(try run("wait", "f5", store: filled).err.hasSuffix(". Try: transfers retry --state cancelled f5\n"))
    var numbers = RunNumbers.none
    numbers.cancelled = 1
    let output = RunOutput(numbers, add: nil, addOutput: nil, status: .allFailed, problems: [])
    #expect(output.text(.plain).hasSuffix("\nNext: transfers retry --state cancelled\n"))
  }

  /// A file of unknown outcome may be at the server.
  @Test func whatIsUnknownIsNotSaidToHaveFailed() throws {
    let receiver = try RunningReceiver(in: program.folder, script: "match POST * : lose-answer")
    let outcome = try run("push", source + "/a", "post+" + receiver.url + "/in/")
    #expect(outcome.code == 4)
    #expect(outcome.err.contains("nothing is known to have succeeded: 1 file unknown"), "\(outcome.err)")
  }

  @Test func theWordsOfAServerAreOneLine() throws {
    let receiver = try RunningReceiver(in: program.folder, script: "match POST * : status=403")
    let outcome = try run("push", "--via", "flow", source, receiver.url + "/-/flow")
    #expect(outcome.out.contains("the server answered 403 (scripted answer) "), "\(outcome.out)")
  }

  @Test func aNameInAnErrorKeepsItsBytes() throws {
    let list = folder + "/list"
    try writeFile(list, Array("x".utf8) + [0xFF] + Array("\\y\n".utf8))
    let outcome = try run("push", "--files-from", list, "http://h/in/")
    #expect(outcome.code == 66)
    #expect(outcome.err.contains(#"first "x\xff\\y""#), "\(outcome.err)")
  }

  @Test(arguments: [
    ("\r\n", "line ends (CRLF) are not part of the names"),
    ("\u{FEFF}", "a byte order mark and line ends (CRLF) are not part of the names"),
  ])
  func theMarksOfAListThatAreThereAreTold(_ mark: String, _ part: String) throws {
    let list = folder + "/list"
    try writeFile(list, Array((mark == "\r\n" ? "src/a\r\n" : "\u{FEFF}src/a\n").utf8))
    let outcome = try run("push", "-n", "--base", folder, "--files-from", list, "http://h/in/")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.contains(part), "\(outcome.err)")
  }

  @Test(arguments: [
    (["push", "SRC", "--via", "flow", "tus+http://h/"], "Try: write the URL of the server, http://… or https://…"),
    (["push", "SRC", "http://h:x/"], "its port is not a number from 1 to 65535. Try: write a port"),
    (["push", "SRC", "http://[::1/"], "its host is neither a name nor an address. Try: "),
    (["push", "SRC", "http://"], "it has no host. Try: "),
    (["push", "SRC", "s3://b/in/"], "its bucket name is not valid: "),
    (["push", "SRC", "s3:///in/"], "it names no bucket"),
    (["pull", "foo", "."], #"read URL "#),
    (["push", "--on-done", "foo", "SRC", "http://h/"], "--on-done takes exec:"),
    (["profile", "try", "flow", "--file", "SRC/a", "--to", "s3://x"], #"read destination "s3://x": "#),
    (["push", "SRC", "--via", "flow", "--input", "t=1", "http://h/"], "Try: "),
  ])
  func whatIsWrongAndWhatToDo(_ typed: [String], _ part: String) throws {
    let outcome = try program.run(typed.map { Array($0.replacing("SRC", with: source).utf8) })
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.err.contains(". Try: "), "\(outcome.err)")
  }

  @Test(arguments: [
    (["nope"], #"read manifest "nope": no such file or directory"#),
    (["SRC/a", "--folder", "nosuch"], #"open folder "nosuch": there is no such folder"#),
  ])
  func aMissingManifestOrFolderIsNamed(_ typed: [String], _ part: String) throws {
    let words = ["manifest", "check"] + typed
    let outcome = try program.run(words.map { Array($0.replacing("SRC", with: source).utf8) })
    #expect(outcome.code == 66)
    #expect(outcome.err.contains(part), "\(outcome.err)")
  }

  @Test func anEmptyPathOfTheLedgerIsWrongUse() throws {
    let outcome = try program.run("status", "--store", "")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("--store has no value. Try: give --store a value"), "\(outcome.err)")
    let nowhere = try program.run("add", source, "http://h/", "--store", "/proc/x.db")
    #expect(nowhere.code == 7)
    #expect(nowhere.err.contains(". Try: "), "\(nowhere.err)")
  }

  @Test func filesOfAFormWithOneKeyAreToldHowToDiffer() throws {
    mkdir(source + "/x", 0o700)
    try writeFile(source + "/x/a", [0x61])
    let outcome = try run("add", source, "form+http://h/")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("--field key={path}"), "\(outcome.err)")
    let put = try run("add", source, "http://h/{name}")
    #expect(put.err.contains("write {path} instead of {name}"), "\(put.err)")
  }

  @Test func aTerminalWithoutUTF8GetsASCII() throws {
    let outcome = try run("add", source, "http://h/in/", environment: ["LC_ALL": "C"])
    #expect(outcome.out == "b1: 2 new, 0 unchanged, 28 B to http://h/in/\n")
    let numbers = RunNumbers.none
    let text = RunOutput(numbers, add: nil, addOutput: nil, status: .ok, problems: []).text(
      TextStyle(columns: nil, usesColour: false, isASCII: true))
    #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(text)")
  }
}
