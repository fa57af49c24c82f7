import Glibc
import Testing

/// Sources that may still be written, and sources that go when they were sent, by the real program.
@Suite struct SourceFateTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder)
    mkdir(program.folder.path + "/in", 0o700)
    for name in ["a", "b"] { try writeFile(program.folder.path + "/in/\(name)", Array(name.utf8)) }
  }

  private func push(_ arguments: String..., to place: String = "/up/") throws -> BuiltProgram.Outcome {
    try program.run(
      (["push", folder + "/in", receiver.url + place, "--store", folder + "/l.db"] + arguments).map { Array($0.utf8) })
  }

  private func isThere(_ name: String) -> Bool { access(folder + name, F_OK) == 0 }

  @Test func aQuietFolderSettlesWithinThePush() throws {
    let outcome = try push("--settle", "50ms")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && isThere("/objects/up/b"))
  }

  @Test func whatSettlesIsLeftWhenNobodyWaits() throws {
    let outcome = try push("--settle", "8h", "--no-wait-for-settling")
    #expect(outcome.code == 0 && !isThere("/objects/up/a"), "\(outcome.err)")
    let files = try program.run("list", "files", "--json", "--columns", "state,cause", "--store", folder + "/l.db")
    #expect(files.out.contains(#""source.settling""#), "\(files.out)")
    #expect(try program.run("store", "check", "--store", folder + "/l.db").code == 0)
  }

  @Test func sourcesGoWhenTheServerProvedEnough() throws {
    let outcome = try push("--after", "delete")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && !isThere("/in/a") && !isThere("/in/b") && isThere("/in"))
    let events = try program.run("report", "events", "--store", folder + "/l.db")
    #expect(events.out.contains("source-deleted"), "\(events.out)")
    #expect(try program.run("store", "check", "--store", folder + "/l.db").code == 0)
  }

  @Test func onlyWhatIsReadyIsSent() throws {
    try writeFile(folder + "/in/a.done", [])
    let outcome = try push("--ready-file", "{path}.done", "--after", "delete")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(isThere("/objects/up/a") && !isThere("/objects/up/b") && !isThere("/objects/up/a.done"))
    #expect(!isThere("/in/a") && !isThere("/in/a.done") && isThere("/in/b"))
  }

  @Test func aLimitInBytesLeavesTheRest() throws {
    for name in ["a", "b"] { try writeFile(folder + "/in/\(name)", [UInt8](repeating: 1, count: 1_000)) }
    let outcome = try push("--max-bytes", "1500")
    #expect(outcome.code == 5, "\(outcome.err)")
    #expect(isThere("/objects/up/a") != isThere("/objects/up/b"))
    #expect(try program.run("run", "--store", folder + "/l.db").code == 0)
    #expect(isThere("/objects/up/a") && isThere("/objects/up/b"))
  }
}
