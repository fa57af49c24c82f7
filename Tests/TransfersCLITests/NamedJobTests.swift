import Glibc
import Testing

@testable import TransfersCLI

/// A job whose batch has a name of its own.
@Suite struct NamedJobTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder())
    mkdir("\(folder)/out", 0o700)
    for n in 0..<2 { try writeFile("\(folder)/out/f\(n)", [UInt8](repeating: 7, count: 1_000)) }
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
    try writeFile("\(folder)/c.yaml", Array(text.utf8))
    chmod("\(folder)/c.yaml", 0o600)
    return try program.run(
      (words + ["--config", "\(folder)/c.yaml", "--store", "\(folder)/l.db"]).map { Array($0.utf8) })
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
