import Glibc
import Testing

/// `--dedupe` with the real program and the bundled server: content that another file has delivered is not sent again.
@Suite struct DedupeTests {
  private let scene: ReceiverScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    let script = "match PUT /up/held nth=1 : hold=body\nmatch PUT /up/accepted nth=1 : late-status=202\n"
    scene = try ReceiverScene(script: script)
  }

  private func write(_ name: String, _ text: String) throws { try writeFile("\(folder)/in/\(name)", Array(text.utf8)) }

  private func push(_ more: String..., to place: String = "/up/") throws -> BuiltProgram.Outcome {
    let words: [String] = ["push", folder + "/in", receiver.url + place] + more
    return try transfers(words)
  }

  private func transfers(_ words: [String]) throws -> BuiltProgram.Outcome { try scene.transfers(words) }

  private func arrived(_ name: String) -> Bool { access("\(folder)/objects/up/\(name)", F_OK) == 0 }

  private func rows(_ sql: String) throws -> String { try transfers(["store", "sql", sql, "--format", "csv"]).out }

  @Test func aRenamedFileIsNotSent() throws {
    try write("a", "content")
    #expect(try push("--dedupe").code == 0)
    rename(folder + "/in/a", folder + "/in/z")
    let outcome = try push("--dedupe")
    #expect(outcome.code == 0 && !arrived("z"), "\(outcome.err)")
    #expect(outcome.out.contains("1 already delivered"), "\(outcome.out)")
    #expect(outcome.err.contains("f1 has delivered the same content under the key \"up/a\""), "\(outcome.err)")
    let shown = try transfers(["show", "f2"]).out
    #expect(shown.contains("superseded") && shown.contains("f1 has delivered the same content"), "\(shown)")
    let file = try rows("SELECT state, cause, same_as, attempts, bytes_transferred FROM v_files WHERE id = 2")
    #expect(file.contains("superseded,policy.duplicate,1,1,0"), "\(file)")
    #expect(try rows("SELECT verb FROM v_events WHERE verb = 'duplicate'").contains("duplicate"))
    // Known files are not recorded again.
    let again = try push("--dedupe", "--json")
    #expect(again.code == 0 && again.out.contains(#""unchanged":1"#), "\(again.out)")
    #expect(try rows("SELECT count(*) FROM v_files").contains("2"))
    #expect(try transfers(["store", "check"]).code == 0)
  }

  @Test func aJobCountsWhatWasAlreadyDelivered() throws {
    let config = "jobs:\n  nightly: {from: \(folder)/in, to: \"\(receiver.url)/up/\", dedupe: true}\n"
    try writeFile(folder + "/config.yaml", Array(config.utf8))
    chmod(folder + "/config.yaml", 0o600)
    func job(_ words: [String]) throws -> BuiltProgram.Outcome {
      let outcome = try transfers(["job"] + words + ["--config", folder + "/config.yaml"])
      #expect(outcome.code == 0, "\(outcome.err)")
      return outcome
    }
    try write("a", "content")
    _ = try job(["run", "nightly", "--no-syslog"])
    #expect(try !job(["show", "nightly"]).out.contains("already delivered"))
    rename(folder + "/in/a", folder + "/in/z")
    _ = try job(["run", "nightly", "--no-syslog"])
    #expect(!arrived("z"))
    #expect(try job(["show", "nightly"]).out.contains("already delivered"))
    #expect(try job(["show", "nightly", "--json"]).out.contains(#""duplicates":1"#))
    // A file that is not a duplicate takes the place of the second one.
    try write("z", "other")
    _ = try job(["run", "nightly", "--no-syslog"])
    #expect(try !job(["show", "nightly"]).out.contains("already delivered"))
  }

  /// The option applies to one push only: without it the same file is sent.
  @Test func withoutTheOptionItIsSent() throws {
    try write("a", "content")
    #expect(try push("--dedupe").code == 0)
    rename(folder + "/in/a", folder + "/in/z")
    #expect(try push("--dedupe").code == 0 && !arrived("z"))
    #expect(try push().code == 0 && arrived("z"))
    #expect(try transfers(["store", "check"]).code == 0)
  }

  @Test func whatIsOtherIsSent() throws {
    try write("a", "content")
    try write("empty", "")
    #expect(try push("--dedupe").code == 0)
    try write("other", "CONTENT")
    try write("none", "")
    #expect(try push("--dedupe").code == 0 && arrived("other") && arrived("none"))
    // Nothing has been delivered to another destination yet.
    #expect(try push("--dedupe", to: "/more/").code == 0)
    #expect(access(folder + "/objects/more/a", F_OK) == 0)
  }

  /// If it were not sent, its older content would stay under its key.
  @Test func aFileThatGetsTheContentOfAnotherIsSent() throws {
    try write("a", "content")
    try write("b", "something")
    #expect(try push("--dedupe").code == 0)
    try write("b", "content")
    #expect(try push("--dedupe").code == 0)
    #expect(try readText(folder + "/objects/up/b") == "content")
  }

  /// The object that had the content now has different content.
  @Test func aDuplicateIsSentWhenItsOriginalIsReplaced() throws {
    try write("a", "content")
    #expect(try push("--dedupe").code == 0)
    try write("z", "content")
    #expect(try push("--dedupe").code == 0 && !arrived("z"))
    try write("a", "changed")
    #expect(try push("--dedupe").code == 0 && arrived("z"))
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// One push scans a duplicate before the original that is replaced; the other pushes only the original.
  @Test(arguments: ["in", "in/z"]) func aPushThatReplacesAnOriginalSendsItsDuplicates(_ pushed: String) throws {
    try write("z", "content")
    #expect(try push("--dedupe").code == 0)
    try write("b", "content")
    #expect(try push("--dedupe").code == 0 && !arrived("b"))
    try write("z", "changed")
    let words: [String] = ["push", "\(folder)/\(pushed)", receiver.url + "/up/", "--dedupe"]
    let outcome = try transfers(words)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try readText(folder + "/objects/up/b") == "content" && readText(folder + "/objects/up/z") == "changed")
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// A server that answers 202 may have stored the older content under the key.
  @Test func aKeyThatMayHaveAnObjectIsSent() throws {
    try write("a", "content")
    #expect(try push("--dedupe").code == 0)
    try write("accepted", "older")
    #expect(try push("--dedupe").code != 0)
    try write("accepted", "content")
    #expect(try push("--dedupe").code == 0)
    #expect(try readText(folder + "/objects/up/accepted") == "content")
  }

  /// With a protocol that needs no session, no chunk is sent while the file is read for the request of the first chunk.
  @Test func noChunkOfADuplicateIsSent() throws {
    let place = "/-/chunks"
    try write("a", String(repeating: "content ", count: 1_000))
    #expect(try push("--dedupe", "--via", "numbered-chunks", "--part-size", "1000", to: place).code == 0)
    rename(folder + "/in/a", folder + "/in/z")
    let outcome = try push("--dedupe", "--via", "numbered-chunks", "--part-size", "1000", to: place)
    #expect(outcome.code == 0 && outcome.out.contains("already delivered"), "\(outcome.out)\(outcome.err)")
    let sent = try rows("SELECT count(*), sum(bytes_transferred) FROM v_attempts WHERE file_id = 2")
    #expect(sent.contains("1,0"), "\(sent)")
    #expect(access(folder + "/objects/.transfers-receiver/2.part", F_OK) != 0)
    #expect(try transfers(["store", "check"]).code == 0)
  }

  /// A source that was not sent has no receipt, and stays.
  @Test func theSourceOfADuplicateStays() throws {
    try write("a", "content")
    #expect(try push("--dedupe").code == 0)
    try write("z", "content")
    let outcome = try push("--dedupe", "--after", "delete")
    #expect(outcome.code == 0 && !arrived("z"), "\(outcome.err)")
    #expect(access(folder + "/in/z", F_OK) == 0)
  }

  /// Part of an interrupted file may be on the server under its key: it is sent, so that no partial file stays there.
  @Test func whatWasCutOffIsSent() throws {
    try write("held", "content")
    let words: [String] = ["push", folder + "/in", receiver.url + "/up/", "--dedupe", "--store", folder + "/l.db"]
    let running = try scene.program.start(words)
    try receiver.waitUntilHeld("body")
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(try transfers(["pause", "f1"]).code == 0)
    try write("a", "content")
    #expect(try transfers(["push", folder + "/in/a", receiver.url + "/up/", "--dedupe"]).code == 0)
    #expect(arrived("a") && !arrived("held"))
    #expect(try transfers(["resume", "f1"]).code == 0)
    #expect(try transfers(["run"]).code == 0)
    #expect(try readText(folder + "/objects/up/held") == "content")
    #expect(try transfers(["store", "check"]).code == 0)
  }
}
