import Testing

/// Only commands that transfer load libcurl: it brings 25 more libraries, which would take most of the time of a short
/// command.
@Suite struct LoadedLibraryTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try FilledLedger(in: program.folder).path
  }

  /// Runs the program so that the dynamic linker reports what it loads. Source: ld.so(8), LD_DEBUG.
  private func run(_ words: [String]) throws -> BuiltProgram.Outcome {
    let outcome = try program.run(words.map { Array($0.utf8) }, environment: ["LD_DEBUG": "files"])
    #expect(outcome.code == 0, "\(words)")
    #expect(outcome.err.contains("file=libsqlite3"), "the linker reports nothing")
    return outcome
  }

  @Test(arguments: ["status", "list files", "report summary", "show f1", "pause b2"])
  func whatReadsAndControlsLoadsNoLibcurl(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    #expect(try !run(words + ["--store", store]).err.contains("libcurl"))
  }

  @Test(arguments: ["--version", "help", "push --help"])
  func whatTellsOfTheProgramLoadsNoLibcurl(_ command: String) throws {
    #expect(try !run(command.split(separator: " ").map(String.init)).err.contains("libcurl"))
  }

  @Test func addLoadsNoLibcurl() throws {
    let file = program.folder.path + "/one"
    try writeFile(file, [1])
    let outcome = try run(["add", "--store", store, file, "http://127.0.0.1:9/in/"])
    #expect(!outcome.err.contains("libcurl"))
  }

  @Test func doctorLoadsIt() throws {
    #expect(try run(["doctor", "--store", store]).err.contains("file=libcurl.so.4"))
  }

  @Test func withoutLibcurlOnlyTransfersFail() throws {
    // The linker uses the first file of that name that it finds.
    try writeFile(program.folder.path + "/libcurl.so.4", [0x7F])
    let broken = ["LD_LIBRARY_PATH": program.folder.path]
    let file = program.folder.path + "/one"
    try writeFile(file, [1])
    #expect(try program.run("status", "--store", store, environment: broken).code == 0)

    let other = program.folder.path + "/other.db"
    let push = try program.run("push", "--store", other, file, "http://127.0.0.1:9/in/", environment: broken)
    #expect(push.code == 78)
    #expect(push.err.contains("load libcurl \"libcurl.so.4\": "), "\(push.err)")
    #expect(push.err.contains("install libcurl 7.87.0 or newer"), "\(push.err)")

    let doctor = try program.run("doctor", "--store", store, environment: broken)
    #expect(doctor.code == 78)
    #expect(doctor.err.contains("version.libcurl: \(program.folder.path)/libcurl.so.4: "), "\(doctor.err)")
  }
}
