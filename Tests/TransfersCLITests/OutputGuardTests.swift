import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// `--output` of commands that move files replaces none of these files, and no file of somebody else.
@Suite struct OutputGuardTests {
  let program: BuiltProgram
  let receiver: RunningReceiver
  private var folder: String { program.folder.path }
  private var source: String { folder + "/source" }
  private var target: String { folder + "/target" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder())
    for path in [source, target] { mkdir(path, 0o700) }
    for name in ["a", "b"] { try writeFile("\(source)/\(name)", Array("content of \(name)".utf8)) }
    try writeFile(target + "/keep.tar", Array("archive of somebody".utf8))
    try writeFile(folder + "/notes", Array("notes of somebody\n".utf8))
  }

  private func run(_ words: [String]) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", folder + "/l.db"]).map { Array($0.utf8) })
  }

  private func expectRefusal(_ words: [String], _ cause: String) throws {
    let outcome = try run(words)
    #expect(outcome.code == 64, "\(words) \(outcome)")
    #expect(outcome.err.contains("error[usage]: --output \"") && outcome.err.contains(cause), "\(outcome.err)")
    #expect(outcome.err.contains("Try: choose another --output"), "\(outcome.err)")
    #expect(access(folder + "/l.db", F_OK) != 0 && access(receiver.root + "/in", F_OK) != 0)
    #expect(try readText(source + "/a") == "content of a")
    #expect(try readText(target + "/keep.tar") == "archive of somebody")
    #expect(try readText(folder + "/notes") == "notes of somebody\n")
  }

  @Test(arguments: ["push", "add"])
  func noSourceIsReplaced(_ verb: String) throws {
    let to = receiver.url + "/in/"
    #expect(symlink("source/a", folder + "/link") == 0)
    #expect(link(source + "/a", folder + "/hard") == 0)
    for output in ["/a", "/new"].map({ source + $0 }) {
      try expectRefusal([verb, source, to, "-o", output], "lies below the source")
      try expectRefusal([verb, source + "/", to, "-o", output], "lies below the source")
    }
    try expectRefusal([verb, source + "/a", source + "/b", to, "-o", source + "/a"], "is a source of this command")
    for output in ["/link", "/hard"] {
      try expectRefusal([verb, source + "/a", to, "-o", folder + output], "is a source of this command")
    }
    try expectRefusal([verb, source + "/*", to, "-o", source + "/new"], "matches the source")
    try expectRefusal([verb, folder + "/s*", to, "-o", source + "/new"], "matches the source")
    try writeFile(folder + "/list", Array((source + "/a\n").utf8))
    try expectRefusal([verb, "--files-from", folder + "/list", to, "-o", folder + "/list"], "is also the list")
  }

  @Test func nothingInTheFolderOfDownloadsIsReplaced() throws {
    for output in ["/keep.tar", "/new"] {
      try expectRefusal(
        ["pull", receiver.url + "/x", target, "-o", target + output], "lies in the folder of the downl")
    }
  }

  @Test func aFileOfSomebodyElseStays() throws {
    let notes = folder + "/notes"
    for words in [
      ["push", source, receiver.url + "/in/"], ["add", source, receiver.url + "/in/"], ["run"],
      ["pull", receiver.url + "/x", target],
    ] {
      try expectRefusal(words + ["-o", notes], "exists, and is not an earlier result")
    }
    #expect(try run(["help", "sources", "-o", notes]).code == 0)
  }

  @Test func aJobReplacesNoSource() throws {
    let config = folder + "/config.yaml"
    try writeFile(config, Array("jobs: {nightly: {from: \(source), to: \"\(receiver.url)/in/\"}}".utf8))
    chmod(config, 0o600)
    try expectRefusal(["job", "run", "nightly", "--config", config, "-o", source + "/a"], "lies below the source")
    try expectRefusal(["job", "run", "nightly", "--config", config, "-o", folder + "/notes"], "exists, and is not")
  }

  @Test(arguments: ["table", "json", "ndjson", "csv", "tsv", "markdown", "html", "prometheus"])
  func aScheduledCommandReplacesItsOwnResult(_ format: String) throws {
    let commands = [
      ["push", source, receiver.url + "/in/"], ["push", "-q", source, receiver.url + "/in/"], ["run"],
      ["add", source, receiver.url + "/in/"], ["pull", "--overwrite", receiver.url + "/in/a", target],
      ["pull", "--no-run", "--overwrite", receiver.url + "/in/b", target],
    ]
    let plans = [["-n"], ["-n", "-q"]].map { ["push"] + $0 + [source, receiver.url + "/other/"] }
    for words in commands + (format == "prometheus" ? [] : plans) {
      let output = folder + "/result-\(words[0])"
      for n in 0..<2 {
        let outcome = try run(words + ["--format", format, "--color", "always", "-o", output])
        #expect(outcome.code == 0, "\(n) \(words) \(outcome.err)")
      }
    }
    let chosen = ["run", "--columns", "result,files", "-o", folder + "/chosen"]
    if format != "html", format != "prometheus" {
      for _ in 0..<2 { #expect(try run(chosen + ["--format", format]).code == 0) }
    }
  }

  @Test func onlyResultsAreRecognised() {
    for text in [
      "{\"data\":[1,2]}", "key,value\nname,1\n", "b1 is a batch\n", "<!doctype html>\n<html lang=\"en\"><title>Mine",
      "# Run\n\nNotes about it.\n", "# HELP node_", "3 new things\n", "Path to it  Key\n", "\u{7F}ELF",
    ] {
      #expect(!EarlierOutput(beginning: text, end: text).isResult, "\(text)")
    }
  }
}
