import Glibc
import Testing

@testable import TransfersCLI

/// A backup that is restored after the original continued: requests that are not repeatable are not repeated, and the
/// user has a way to continue.
@Suite struct CopiedLedgerTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var copy: String { folder + "/copy.db" }

  init() throws { program = try BuiltProgram() }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome { try program.run(words.map { Array($0.utf8) }) }

  /// Records five files, copies the ledger, and lets the original send the files. Returns the server.
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

  private func bytes(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw SystemFailure("open \(path)") }
    defer { fclose(file) }
    var out: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { out += buffer[..<count] }
    return out
  }

  private func attempts(_ store: String) throws -> Int {
    try run("list", "attempts", "--all", "--ids", "--store", store).out.split(separator: "\n").count
  }

  @Test(arguments: ["backup", "snapshot"]) func postsAreNotDoubled(_ kind: String) throws {
    let receiver = try copied("post+", kind)
    defer { withExtendedLifetime(receiver) {} }
    let outcome = try run("run", "--store", copy)
    #expect(outcome.code == 4 || outcome.code == 3, "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.contains("original may have sent"), "\(outcome.err)")
    #expect(try attempts(copy) == 0)
    #expect(
      try run("list", "files", "--state", "unknown", "--ids", "--store", copy).out.split(separator: "\n").count == 5)
    #expect(try run("store", "check", "--store", copy).code == 0)
    // A user who has checked the server may send them.
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

  /// The ledger is copied as with `cp`, and either put back over the original or used under another name.
  @Test(arguments: [true, false]) func aCopyThatNobodyMarkedIsRecognised(_ putsBack: Bool) throws {
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    mkdir(folder + "/src", 0o700)
    for n in 1...5 { try writeFile("\(folder)/src/\(n)", Array("content \(n)".utf8)) }
    #expect(try run("add", folder + "/src", "post+\(receiver.url)/in/", "--store", store).code == 0)
    try writeFile(copy, try bytes(store))
    chmod(copy, 0o600)
    #expect(try run("run", "--store", store).code == 0)
    if putsBack { try writeFile(store, try bytes(copy)) }
    let used = putsBack ? store : copy
    try writeFile(folder + "/new", Array("new".utf8))
    let outcome = try run("push", folder + "/new", "post+\(receiver.url)/in/", "--store", used)
    #expect(outcome.code == 0 || outcome.code == 4, "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.contains("The original may have sent the 5 files"), "\(outcome.err)")
    #expect(try attempts(used) == 1, "only the new file is sent")
    #expect(
      try run("list", "files", "--state", "unknown", "--ids", "--store", used).out.split(separator: "\n").count == 5)
    #expect(try run("store", "check", "--store", used).code == 0)
    #expect(try run("retry", "--state", "unknown", "--store", used).code == 0)
    let again = try run("run", "--store", used)
    #expect(again.code == 0 && !again.err.contains("original"), "\(again.err)")
    #expect(try attempts(used) == 6)
  }

  /// The original may still need them, or somebody has told it to keep them.
  @Test func sourcesStayUntilTheCopyIsTrusted() throws {
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    mkdir(folder + "/src", 0o700)
    for name in ["a", "b"] { try writeFile("\(folder)/src/\(name)", Array("content \(name)".utf8)) }
    let added = try run("add", folder + "/src", receiver.url + "/in/", "--after", "delete", "--store", store)
    #expect(added.code == 0, "\(added.err)")
    #expect(try run("store", "backup", copy, "--store", store).code == 0)
    func areThere() -> [Bool] { ["a", "b"].map { access("\(folder)/src/\($0)", F_OK) == 0 } }
    for _ in 0..<2 {
      let outcome = try run("run", "--store", copy)
      #expect(outcome.code == 0 && areThere() == [true, true], "\(outcome.err)")
    }
    #expect(try run("status", "--store", copy).out.contains("the original may still need it"))
    #expect(try run("store", "check", "--store", copy).code == 0)
    let trusted = try run("run", "--trust-copy", "--store", copy)
    #expect(trusted.code == 0 && areThere() == [false, false], "\(trusted.err)")
    #expect(try run("store", "check", "--store", copy).code == 0)
  }

  /// Files that are added to a copy belong to it alone.
  @Test func newFilesOfACopyAreSent() throws {
    let receiver = try copied("post+")
    try writeFile(folder + "/new", Array("new".utf8))
    let pushed = try run("push", folder + "/new", "post+\(receiver.url)/in/", "--store", copy)
    #expect(pushed.code == 0 || pushed.code == 4, "\(pushed.err)")
    #expect(try run("list", "files", "--state", "done", "--ids", "--store", copy).out.split(separator: "\n").count == 1)
  }
}
