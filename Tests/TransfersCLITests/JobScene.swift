import Glibc

/// A configuration with jobs and a ledger, for the built program and the bundled server.
struct JobScene {
  let program: BuiltProgram
  let receiver: RunningReceiver
  var folder: String { program.folder.path }
  private var settings: [String] { ["--config", "\(folder)/c.yaml", "--store", "\(folder)/l.db"] }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder())
  }

  /// Makes a source with these files.
  func fill(_ source: String, _ files: [String: [UInt8]]) throws {
    mkdir("\(folder)/\(source)", 0o700)
    for (name, content) in files { try writeFile("\(folder)/\(source)/\(name)", content) }
  }

  /// Makes `out`, the source of most jobs, with files of 1,000 bytes that are named f0, f1 ….
  func fillOut(count: Int) throws {
    try fill(
      "out", Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", [UInt8](repeating: 7, count: 1_000)) }))
  }

  func configure(_ text: String) throws {
    try writeFile("\(folder)/c.yaml", Array(text.utf8))
    chmod("\(folder)/c.yaml", 0o600)
  }

  func run(_ words: [String]) throws -> BuiltProgram.Outcome {
    try program.run((words + settings).map { Array($0.utf8) })
  }

  /// Starts the program without waiting.
  func start(_ words: [String]) throws -> BuiltProgram.Running { try program.start(words + settings) }

  /// What the receiver keeps below `in/`; nil if there is nothing of this name.
  func stored(_ name: String) -> String? { try? readText("\(receiver.root)/in/\(name)") }
}
