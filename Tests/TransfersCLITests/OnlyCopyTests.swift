import Glibc
import Testing

/// A file does not replace the object of another one whose source was deleted after it was sent.
@Suite struct OnlyCopyTests {
  private let scene: ReceiverScene
  private var folder: String { scene.folder }

  init() throws {
    scene = try ReceiverScene(script: "")
    for name in ["x", "y"] {
      mkdir(scene.folder + "/in/" + name, 0o700)
      try writeFile(scene.folder + "/in/\(name)/same", Array("of \(name)".utf8))
    }
  }

  private func push(_ name: String, _ more: String...) throws -> BuiltProgram.Outcome {
    try scene.transfers(["push", folder + "/in/\(name)/same", scene.receiver.url + "/up/same"] + more)
  }

  private func stored() throws -> String { try readText(folder + "/objects/up/same") }

  private func isThere(_ name: String) -> Bool { access(folder + "/in/\(name)/same", F_OK) == 0 }

  private func expectRefused(
    _ outcome: BuiltProgram.Outcome, says text: String = "it would replace the only copy"
  ) throws {
    #expect(outcome.code == 4, "\(outcome.out)\(outcome.err)")
    #expect(outcome.err.contains(text), "\(outcome.err)")
    #expect(try stored() == "of x")
    #expect(isThere("y"))
    #expect(try scene.transfers(["store", "check"]).code == 0)
  }

  @Test(arguments: [[], ["--after", "delete"]]) func theOtherFileIsRefusedUntilItIsGivenUp(_ more: [String]) throws {
    #expect(try push("x", "--after", "delete").code == 0)
    #expect(!isThere("x"))
    let words: [String] = ["push", folder + "/in/y/same", scene.receiver.url + "/up/same"]
    let plan = try scene.transfers(["add", "-n"] + words.dropFirst() + more)
    #expect(plan.err.contains("it would replace the only copy") && plan.out.contains("nothing to send"), "\(plan.out)")
    for _ in 0..<2 {
      let outcome = try scene.transfers(words + more)
      try expectRefused(outcome)
      #expect(outcome.err.contains("is that of f1 (\"\(folder)/in/x/same\")"), "\(outcome.err)")
    }
    let proven = try scene.transfers(["prove"])
    #expect(proven.out.contains("the last scans left out 1 refused"), "\(proven.out)\(proven.err)")
    #expect(try scene.transfers(["rm", "f1"]).code == 0)
    let outcome = try scene.transfers(words + more)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try stored() == "of y")
  }

  /// Neither tidying nor other settings for what comes give up what was deleted.
  @Test(arguments: [["clean"], ["clean", "--failed"], ["set", "b1", "--after", "keep"], ["cancel", "b1"]])
  func onlyAPersonWhoRemovesTheFileGivesItUp(_ words: [String]) throws {
    #expect(try push("x", "--after", "delete").code == 0)
    _ = try scene.transfers(words)
    try expectRefused(try push("y"))
    let removed = try scene.transfers(["rm", "f1"])
    #expect(removed.code == 0, "\(removed.err)")
    #expect(try push("y").code == 0)
    #expect(try stored() == "of y")
  }

  /// Other ways to write the URL of its object.
  @Test(arguments: ["/up/{name}", "/up/{path}", "/%75p/{name}", "/%75p/"])
  func itIsTheSameObjectHoweverItsURLIsWritten(_ place: String) throws {
    #expect(try push("x", "--after", "delete").code == 0)
    try expectRefused(try scene.transfers(["push", folder + "/in/y/same", scene.receiver.url + place]))
  }

  /// Names of the first source and the second one, each with its place; and the account of the second one.
  @Test(arguments: [
    ("same", "/up/{path}.bin", "same.bin", "/up/", false), ("same.bin", "/up/", "same", "/up/{path}.bin", false),
    ("same", "/up/{path}/data", "data", "/up/same/", false), ("same", "/up/", "same", "/up/", true),
  ])
  func itIsTheSameObjectByAnyTemplateAndAccount(
    _ one: String, _ itsPlace: String, _ two: String, _ place: String, _ hasAccount: Bool
  ) throws {
    let (first, second) = (folder + "/in/x/" + one, folder + "/in/y/" + two)
    try writeFile(first, Array("of x".utf8))
    try writeFile(second, Array("of y".utf8))
    try writeFile(folder + "/token", Array("t".utf8))
    chmod(folder + "/token", 0o600)
    let sent = try scene.transfers(["push", first, scene.receiver.url + itsPlace, "--after", "delete"])
    #expect(sent.code == 0 && access(first, F_OK) != 0, "\(sent.err)")
    let words =
      ["push", second, scene.receiver.url + place, "--after", "delete"]
      + (hasAccount ? ["--auth", "bearer=file:" + folder + "/token"] : [])
    let refused = try scene.transfers(words)
    #expect(refused.code == 4 && refused.err.contains("it would replace the only copy"), "\(refused.err)")
    #expect(access(second, F_OK) == 0)
    let plan = try scene.transfers(["add", "-n"] + words.dropFirst())
    #expect(plan.err.contains("it would replace the only copy"), "\(plan.err)")
    #expect(try scene.transfers(["rm", "f1"]).code == 0)
    let replaced = try scene.transfers(words)
    #expect(replaced.code == 0, "\(replaced.err)")
    #expect(replaced.err.contains("1 file replaces an object at the destination"), "\(replaced.err)")
    #expect(try scene.transfers(["store", "check"]).code == 0)
  }

  /// The row of the deleted source is not the newest of its key.
  @Test func aCancelledVersionChangesNothing() throws {
    #expect(try push("x", "--after", "delete").code == 0)
    try writeFile(folder + "/in/x/same", Array("newer x".utf8))
    #expect(try scene.transfers(["add", folder + "/in/x/same", scene.receiver.url + "/up/same"]).code == 0)
    #expect(try scene.transfers(["cancel", "f2"]).code == 0)
    try expectRefused(try push("y"))
  }

  @Test func twoJobsWithOneFolderDoNotReplaceEachOther() throws {
    let to = "\"\(scene.receiver.url)/up/\", after: delete"
    let config = "jobs: {job-x: {from: \(folder)/in/x, to: \(to)}, job-y: {from: \(folder)/in/y, to: \(to)}}"
    try writeFile(folder + "/config.yaml", Array(config.utf8))
    chmod(folder + "/config.yaml", 0o600)
    let words = ["job", "run", "--no-syslog", "--config", folder + "/config.yaml"]
    #expect(try scene.transfers(words + ["job-x"]).code == 0)
    // A job is quiet, and the ledger has no row of the file.
    for _ in 0..<2 {
      let refused = try scene.transfers(words + ["job-y"])
      try expectRefused(refused)
      #expect(
        refused.err.contains("give that one up with \"transfers rm f1\"  \(folder)/in/y/same\n"), "\(refused.err)")
      #expect(
        refused.err.hasSuffix(
          "\ntransfers: error[all_failed]: nothing succeeded: 1 file failed (\(folder)/in/y/same)\n"),
        "\(refused.err)")
      #expect(!refused.err.contains("Next:"), "nothing else finds it: \(refused.err)")
    }
    let plan = try scene.transfers(words + ["-n", "job-y"])
    #expect(plan.err.contains("it would replace the only copy"), "\(plan.err)")
    let settings = ["--config", folder + "/config.yaml"]
    let check = try scene.transfers(["check"] + settings)
    #expect(check.code == 2 && check.out.contains("1 file refused by the last scan of job job-y"), "\(check.out)")
    let shown = try scene.transfers(["job", "show", "job-y"] + settings)
    #expect(shown.out.contains("refused by the last scan"), "\(shown.out)")
    #expect(try scene.transfers(["check", "--max-refused", "1"] + settings).code == 0)
    // What is accepted again ends it.
    #expect(try scene.transfers(["rm", "f1"]).code == 0)
    #expect(try scene.transfers(words + ["job-y"]).code == 0)
    let ended = try scene.transfers(["check"] + settings)
    #expect(ended.code == 0, "\(ended.out)")
  }

  /// The same path leads to another file, because a link in it was replaced.
  @Test(arguments: [[], ["--after", "delete"], ["--after", "delete", "--name", "all"]])
  func aPathThatLeadsElsewhereByNowIsRefused(_ more: [String]) throws {
    let link = folder + "/in/current"
    symlink(folder + "/in/x", link)
    let words = ["push", link, scene.receiver.url + "/up/"]
    let first = more.isEmpty ? ["--after", "delete"] : more
    #expect(try scene.transfers(words + first).code == 0)
    // The same link again, and one that leads to the same folder, change nothing.
    unlink(link)
    symlink(folder + "/in/../in/x", link)
    try writeFile(folder + "/in/x/same", Array("of x".utf8))
    #expect(try scene.transfers(words + first).code == 0)
    unlink(link)
    symlink(folder + "/in/y", link)
    let plan = try scene.transfers(["add", "-n"] + words.dropFirst())
    #expect(plan.err.contains("it would replace what may be the only copy"), "\(plan.err)")
    for _ in 0..<2 {
      try expectRefused(
        try scene.transfers(words + more), says: "a symbolic link in its path was replaced since f2 was sent")
    }
    #expect(try scene.transfers(["rm", "f2"]).code == 0)
    #expect(try scene.transfers(words + more).code == 0)
    #expect(try stored() == "of y")
  }

  /// The same file, and one that was moved and so has a copy.
  @Test func aNewerVersionAndWhatHasACopyAreReplaced() throws {
    #expect(try push("x", "--after", "delete").code == 0)
    try writeFile(folder + "/in/x/same", Array("newer x".utf8))
    mkdir(folder + "/moved", 0o700)
    let newer = try push("x", "--after", "move:\(folder)/moved")
    #expect(newer.code == 0 && !newer.err.contains("another path"), "\(newer.err)")
    #expect(try stored() == "newer x")
    let other = try push("y")
    #expect(other.code == 0, "\(other.err)")
    #expect(other.err.contains("1 file replaces an object at the destination that a file with another path became"))
    #expect(try stored() == "of y")
  }
}
