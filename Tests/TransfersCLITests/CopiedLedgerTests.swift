import Glibc
import Testing

@testable import TransfersCLI

/// A backup that is restored after its original went on: what must not be sent twice is not, and people have a way on.
@Suite struct CopiedLedgerTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var copy: String { folder + "/copy.db" }

  init() throws { program = try BuiltProgram() }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome { try program.run(words.map { Array($0.utf8) }) }

  /// Five files are recorded, the ledger is copied, and the original sends them. Returns the server.
  private func copied(_ scheme: String, _ kind: String = "backup") throws -> RunningReceiver {
    let receiver = try RunningReceiver(in: program.folder)
    mkdir(folder + "/src", 0o700)
    for n in 1...5 { try writeFile("\(folder)/src/\(n)", Array("content \(n)".utf8)) }
    let added = try run("add", folder + "/src", "\(scheme)\(receiver.url)/in/", "--store", store)
    #expect(added.code == 0, "\(added.err)")
    #expect(try run("store", kind, copy, "--store", store).code == 0)
    chmod(copy, 0o600)
    #expect(try run("run", "--store", store).code == 0)
    return receiver
  }

  private func attempts(_ store: String) throws -> Int {
    try run("list", "attempts", "--all", "--ids", "--store", store).out.split(separator: "\n").count
  }

  @Test(arguments: ["backup", "snapshot"]) func postsAreNotDoubled(_ kind: String) throws {
    let receiver = try copied("post+", kind)
    defer { withExtendedLifetime(receiver) {} }
    let outcome = try run("run", "--store", copy)
    #expect(outcome.code == 4 || outcome.code == 3, "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.contains("its original may have sent"), "\(outcome.err)")
    #expect(try attempts(copy) == 0)
    #expect(
      try run("list", "files", "--state", "unknown", "--ids", "--store", copy).out.split(separator: "\n").count == 5)
    #expect(try run("store", "check", "--store", copy).code == 0)
    // Who looked at the server may send them.
    #expect(try run("retry", "--state", "unknown", "--store", copy).code == 0)
    #expect(try run("run", "--store", copy).code == 0)
    #expect(try attempts(copy) == 5)
  }

  @Test func whatMayBeRepeatedGoesOn() throws {
    let receiver = try copied("")
    defer { withExtendedLifetime(receiver) {} }
    let outcome = try run("run", "--store", copy)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try attempts(copy) == 5)
  }

  @Test func aPersonMayTrustACopy() throws {
    let receiver = try copied("post+")
    defer { withExtendedLifetime(receiver) {} }
    let outcome = try run("run", "--trust-copy", "--store", copy)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try attempts(copy) == 5)
  }

  /// What is added to a copy is its own.
  @Test func newFilesOfACopyAreSent() throws {
    let receiver = try copied("post+")
    try writeFile(folder + "/new", Array("new".utf8))
    let pushed = try run("push", folder + "/new", "post+\(receiver.url)/in/", "--store", copy)
    #expect(pushed.code == 0 || pushed.code == 4, "\(pushed.err)")
    #expect(try run("list", "files", "--state", "done", "--ids", "--store", copy).out.split(separator: "\n").count == 1)
  }
}
