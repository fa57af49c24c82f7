import Testing

@testable import TransfersCLI

/// A ledger with one file of seven bytes, which was sent to a receiver that no longer runs.
struct SentFile {
  let program: BuiltProgram
  var store: String { program.folder.path + "/l.db" }

  init() throws {
    program = try BuiltProgram()
    try writeFile(program.folder.path + "/f", Array("content".utf8))
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    let pushed = try program.run("push", program.folder.path + "/f", receiver.url + "/in/", "--store", store)
    #expect(pushed.code == 0, "\(pushed.err)")
  }

  func run(_ words: [String]) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", store]).map { Array($0.utf8) })
  }
}
