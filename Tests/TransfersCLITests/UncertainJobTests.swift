import Glibc
import Testing

/// A POST that was cancelled when it may have arrived: a job says so until a person has decided, and repeats nothing.
@Suite struct UncertainJobTests {
  private let scene: ReceiverScene
  /// How the run ended whose file was cancelled.
  private let cancelled: BuiltProgram.Outcome
  private var path: String { scene.folder + "/in/f" }

  /// Cancels the file while the server, which has its body, holds the answer.
  init() throws {
    scene = try ReceiverScene(script: "match POST * nth=1 : late-hold=post\n")
    try writeFile(scene.folder + "/in/f", Array("content".utf8))
    let config = "jobs: {inbox: {from: \(scene.folder)/in, to: \"post+\(scene.receiver.url)/up/\"}}"
    try writeFile(scene.folder + "/config.yaml", Array(config.utf8))
    chmod(scene.folder + "/config.yaml", 0o600)
    let running = try scene.program.start(
      Self.run + ["--config", scene.folder + "/config.yaml", "--store", scene.folder + "/l.db"])
    try scene.receiver.waitUntilHeld("post")
    let cancel = try scene.transfers(["cancel", "f1"])
    cancelled = try running.wait()
    #expect(cancel.code == 0)
    try scene.receiver.release("post")
  }

  private static let run = ["job", "run", "inbox", "--no-syslog"]

  private func job() throws -> BuiltProgram.Outcome {
    try scene.transfers(Self.run + ["--config", scene.folder + "/config.yaml"])
  }

  private func transfers(_ command: String) throws -> BuiltProgram.Outcome {
    try scene.transfers(command.split(separator: " ").map(String.init))
  }

  private func expectNothingSent() throws {
    #expect(try transfers("list attempts --all --ids").out == "a1\n")
    #expect(try transfers("store check").code == 0)
  }

  /// Retrying everything that was cancelled would send it a second time.
  @Test func nothingAdvisesToRepeatIt() throws {
    let ends = [cancelled, try transfers("wait f1")]
    for end in ends {
      #expect(end.code == 4 && end.err.hasSuffix("Try: transfers help resolve\n"), "\(end.err)")
      #expect(!(end.out + end.err).contains("retry"), "\(end.out)\(end.err)")
    }
    #expect(cancelled.err.contains("1 file cancelled (f1 may have arrived)"), "\(cancelled.err)")
    #expect(try transfers("resolve f1 --cancel --reason no").code == 0)
    #expect(try transfers("wait f1").err.contains("retry --state cancelled"))
  }

  @Test(arguments: ["retry --state cancelled", "retry --state cancelled --last", "retry --state cancelled,unknown b1"])
  func aRetryOfAllThatWasCancelledLeavesItOut(_ command: String) throws {
    let outcome = try transfers(command)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(
      outcome.out.contains(
        "unchanged: 1 cancelled; f1 may have arrived and would be sent twice: if not, transfers resolve f1 --retry"),
      "\(outcome.out)\(outcome.err)")
    _ = try transfers("run")
    try expectNothingSent()
    #expect(try transfers("retry f1").out.contains("1 file will be tried again"))
  }

  @Test func theJobNamesTheFileAndTheVerb() throws {
    for _ in 0..<2 {
      let outcome = try job()
      #expect(outcome.code == 4, "\(outcome.out)\(outcome.err)")
      #expect(
        outcome.err.contains("look at the server, then decide with \"transfers resolve f1\"  \(path)\n"),
        "\(outcome.err)")
      #expect(
        outcome.err.hasSuffix(
          "nothing succeeded: 1 file unknown (\(path)). Try: transfers help resolve\n"), "\(outcome.err)")
      #expect(!outcome.err.contains("report failures"), "it has nothing about this file: \(outcome.err)")
    }
    #expect(try transfers("job show inbox").out.contains("1 file unknown (\(path))"))
    let push = try scene.transfers(["push", scene.folder + "/in", "post+\(scene.receiver.url)/up/"])
    #expect(push.code == 4 && push.err.contains("transfers resolve f1"), "\(push.err)")
    try expectNothingSent()
  }

  @Test(arguments: [
    "resolve f1 --done --reason seen", "resolve --all --done --reason seen", "resolve f1 --cancel --reason no",
    "resolve --state unknown --cancel --reason no", "clean f1", "rm f1",
  ])
  func aDecisionEndsItsFailures(_ command: String) throws {
    #expect(try transfers(command).code == 0)
    for _ in 0..<2 {
      let outcome = try job()
      #expect((outcome.code, outcome.err) == (0, ""))
    }
    try expectNothingSent()
    #expect(try transfers("resolve --all --done --reason seen").out == "")
  }

  @Test func itIsSentAgainOnRequest() throws {
    #expect(try transfers("resolve f1 --retry --reason lost").code == 0)
    #expect(try job().code == 0)
    #expect(try transfers("list attempts --all --ids").out.split(separator: "\n").count == 2)
  }
}
