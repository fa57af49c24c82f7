import Glibc

/// The real program, the bundled server and a ledger in one folder; the sources are in its folder `in`.
struct ReceiverScene {
  let program: BuiltProgram
  let receiver: RunningReceiver
  var folder: String { program.folder.path }

  /// - Parameter script: how the server misbehaves, one rule a line.
  init(script: String) throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder, script: script)
    mkdir(program.folder.path + "/in", 0o700)
  }

  /// Runs the program with the ledger.
  func transfers(_ words: [String], ledger: String = "l.db") throws -> BuiltProgram.Outcome {
    let all: [String] = words + ["--store", folder + "/" + ledger]
    return try program.run(all.map { Array($0.utf8) })
  }
}
