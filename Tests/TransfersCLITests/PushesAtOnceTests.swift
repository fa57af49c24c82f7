import Glibc
import Testing
import TransferModel

/// Several concurrent pushes of the same files into one ledger: each reports on its own files, and counts each once.
@Suite struct PushesAtOnceTests {
  @Test func eachSaysWhatItsSelectionFinished() throws {
    let program = try BuiltProgram()
    let receiver = try RunningReceiver(in: program.folder, script: "match PUT * nth=20 times=100 : hold=rest")
    let source = program.folder.path + "/src"
    mkdir(source, 0o700)
    let count = 60
    for n in 0..<count { try writeFile("\(source)/f\(n)", Array("content \(n)".utf8)) }
    let store = program.folder.path + "/l.db"
    let pushes = try (0..<8).map { n in
      try program.start("push", source, receiver.url + "/in/", "--store", store, number: n)
    }
    // Some files are sent immediately; the rest only when all pushes have selected their files and wait for the sender.
    try receiver.waitUntilHeld("rest")
    let sender = try readText(store + ".lock")
    for push in pushes where !sender.contains("pid \(push.pid) ") {
      try push.waitUntilSaid("another engine owns the ledger")
    }
    try receiver.release("rest")
    for push in pushes {
      let outcome = try push.wait()
      #expect(outcome.code == 0, "\(outcome.err)")
      let line = try #require(outcome.out.split(separator: "\n").first { $0.contains(" done") }, "\(outcome.out)")
      let words = line.split { " ,".contains($0) }.map(String.init)
      let counts = ["done", "unchanged"].map { word in
        words.firstIndex(of: word).flatMap { Int(words[$0 - 1]) } ?? 0
      }
      #expect(counts[0] + counts[1] == count, "\(line)")
    }
    let puts = try program.run("store", "sql", "SELECT count(*) FROM v_attempts", "--store", store, "--format", "tsv")
    #expect(puts.out.split(separator: "\n").last == "\(count)", "\(puts.out)")
  }
}
