import Testing

@Suite struct RetryTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try FilledLedger(in: program.folder).path
  }

  @Test func theFirstRetryTakesFilesAndTheSecondFindsNone() throws {
    let passedOver = "1 file cannot be retried: push files again that were never read or were superseded\n"
    let alone = "unchanged: 1 failed\n"
    #expect(try run("retry --all -n").out == "would retry 1 file\n  f2\n" + alone + passedOver)
    #expect(try run("list files --state failed").out.split(separator: "\n").count == 3)
    let outcome = try run("retry f2-f4")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out == "2 files will be tried again\n\(alone)\(passedOver)Next: transfers run\n")
    #expect(try run("list files f2 f3 --state pending").out.split(separator: "\n").count == 3)
    #expect(try run("retry f2 f3").out == "nothing to retry\nunchanged: 2 pending\n")
    #expect(try run("retry f1").out == "nothing to retry\nunchanged: 1 done\n")
    #expect(try run("store check").code == 0)
  }

  private func run(_ command: String) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)])
  }
}
