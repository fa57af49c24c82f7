import Glibc
import Testing

@testable import TransfersCLI

/// A job whose batch has a name of its own.
@Suite struct NamedJobTests {
  private let scene: JobScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    scene = try JobScene()
    try scene.fillOut(count: 2)
  }

  private func run(_ settings: String, _ words: String...) throws -> BuiltProgram.Outcome {
    let text = """
      jobs:
        nightly:
          name: fixed
          syslog: false
          from: \(folder)/out
          to: "\(receiver.url)/in/"
          \(settings)

      """
    try scene.configure(text)
    return try scene.run(words)
  }

  /// The settings of a batch are frozen, so nothing new can be recorded under its name.
  @Test(arguments: ["content_type: text/plain", "after: delete", "on_done: exec:/bin/true"])
  func anotherSettingIsAFaultThatDelaysNoEarlierFile(_ setting: String) throws {
    #expect(try run("max_bytes: 1000", "job", "run", "nightly").code == 5)
    #expect(access("\(receiver.root)/in/f1", F_OK) != 0)
    let outcome = try run(setting, "job", "run", "nightly")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("\(folder)/c.yaml:3:") && outcome.err.contains("with this name"), "\(outcome.err)")
    #expect(outcome.err.contains("Try: change \"name\" of the job, or leave it out"), "\(outcome.err)")
    #expect(try readText("\(receiver.root)/in/f1").utf8.count == 1_000)
  }
}
