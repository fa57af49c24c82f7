import Glibc
import Testing
import TransferEngine
import TransferModel

@testable import Transfers

/// What is submitted to Slurm, with a script in the place of `sbatch`; tools/test.d/slurm uses the real one.
@Suite struct ShardSubmitTests {
  private let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var parts: String { folder + "/parts" }

  init() throws {
    program = try BuiltProgram()
    try writeFile(folder + "/m.jsonl", Array((1...5).map { "{\"path\":\"f\($0)\",\"size\":\($0)}\n" }.joined().utf8))
    #expect(
      try program.run("manifest", "shard", folder + "/m.jsonl", "--shards", "3", "--into", parts).code == 0)
  }

  /// - Parameter sbatch: the shell command that `sbatch` runs; it also records its arguments.
  private func submit(_ words: [String], sbatch: String? = "echo Submitted batch job 12") throws -> BuiltProgram.Outcome
  {
    mkdir(folder + "/bin", 0o700)
    unlink(folder + "/bin/sbatch")
    if let sbatch {
      let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(folder)/asked\n\(sbatch)\n"
      try writeFile(folder + "/bin/sbatch", Array(text.utf8))
      chmod(folder + "/bin/sbatch", 0o700)
    }
    let path = "\(folder)/bin" + (sbatch == nil ? "" : ":/bin:/usr/bin")
    return try program.run(
      (["shard", "submit", "--slurm"] + words).map { Array($0.utf8) }, environment: ["PATH": path])
  }

  private var places: [String] { [parts, folder + "/shared", "/data/o ut", "http://127.0.0.1:1/in/"] }

  @Test func theArrayIsSubmittedWithItsScript() throws {
    let done = try submit(
      [
        "--at-once", "2", "--rate", "10M", "--workers", "9", "--tries", "7", "--local", "/disk", "--sbatch=--time=1 -v",
        "--json",
      ]
        + places + ["--", "--label", "a=b"])
    #expect(done.code == 0, "\(done.err)")
    for part in [#""job":"12""#, #""shards":3"#, #""at_once":2"#, #""task_bps":5242880"#, #""task_workers":4"#] {
      #expect(done.out.contains(part), "\(part) in \(done.out)")
    }
    let shared = folder + "/shared"
    #expect(
      try readText(folder + "/asked").split(separator: "\n").map(String.init) == [
        "--array=1-3%2", "--requeue", "--signal=B:TERM@180", "--open-mode=append", "--output=\(shared)/shard-%a.log",
        "--job-name=transfers", "--time=1", "-v", "\(shared)/transfers-array.sh", "--task", "add", parts, shared,
        "/data/o ut", "http://127.0.0.1:1/in/", "7", "/disk", "--rate", "5242880", "--workers", "4", "--", "--label",
        "a=b",
      ])
    #expect(access(shared + "/transfers-array.sh", X_OK) == 0)
    let script = #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/tools/slurm/transfers-array.sh"
    #expect(
      try readText(shared + "/transfers-array.sh") == readText("/" + script), "the program has another script")
    let id = try readText(shared + "/id")
    #expect(try submit(places).code == 0)
    #expect(try readText(shared + "/id") == id, "this ID finds the ledgers on the nodes")
    #expect(Set(try names(in: shared)) == ["id", "transfers-array.sh"])
  }

  @Test func aDownloadIsSubmitted() throws {
    #expect(try submit(["--pull", parts, folder + "/shared", "/data/in"]).code == 0)
    let asked = try readText(folder + "/asked").split(separator: "\n").suffix(8).map(String.init)
    #expect(asked == ["pull", parts, folder + "/shared", "/data/in", "-", "20", "-", "--"])
  }

  @Test func printingMakesNothing() throws {
    let printed = try submit(["--print"] + places, sbatch: nil)
    #expect(printed.code == 0, "\(printed.err)")
    #expect(printed.out.hasPrefix("$ sbatch --array=1-3%3 --requeue "), "\(printed.out)")
    #expect(printed.out.contains(" '/data/o ut' "), "\(printed.out)")
    #expect(access(folder + "/shared", F_OK) != 0)
  }

  /// What it prints runs in a shell as the command that it means.
  @Test(arguments: ["/it's", #"/back\slash"#, "/line\nfeed\u{1B}", #"/$(id) "x" `y` ~ {a,b} ä"#])
  func thePrintedCommandIsOneForAShell(_ base: String) throws {
    let printed = try submit(["--print", parts, folder + "/shared", base, "http://127.0.0.1:1/in/"], sbatch: nil)
    #expect(printed.code == 0 && !printed.out.contains("\u{1B}"), "\(printed.err)")
    let line = try #require(printed.out.split(separator: "\n").first).dropFirst(2)
    try writeFile(folder + "/line", Array("sbatch() { printf '%s\\0' \"$@\"; }\n\(line)\n".utf8))
    let asked = try RunningCommand(["/bin/bash", folder + "/line"], code: .localIO).output(limitMs: 60_000) { false }
    let words = String(decoding: asked, as: UTF8.self).split(separator: "\0")
    #expect(words.contains(base[...]), "\(words)")
  }

  /// Only in the name of the log: Slurm replaces %a there.
  @Test func percentSignsOfTheFolderStayInTheNameOfTheLog() throws {
    let shared = folder + "/100%a"
    #expect(try submit([parts, shared] + places.dropFirst(2)).code == 0)
    let asked = try readText(folder + "/asked").split(separator: "\n").map(String.init)
    #expect(asked.contains("--output=\(folder)/100%%a/shard-%a.log") && asked.contains(shared), "\(asked)")
  }

  /// After a backslash Slurm replaces nothing.
  @Test func aSharedFolderWithABackslashIsRefused() throws {
    let refused = try submit([parts, folder + #"/a\b"#] + places.dropFirst(2))
    #expect(refused.code == 64 && refused.err.contains("backslash"), "\(refused.err)")
    #expect(access(folder + "/asked", F_OK) != 0)
  }

  /// A job that Slurm took must not appear as refused: it would be submitted twice.
  @Test(arguments: [
    ("echo Submitted batch job 12 on cluster blue7", "12"), ("echo '12;blue'", "12"), ("echo 12", "12"),
    ("for i in 1 2 3 4 5 6 7 8; do printf %999s. >&2; done; echo; echo Submitted batch job 3", "3"),
  ])
  func aJobThatSlurmTookIsNamed(_ sbatch: String, _ number: String) throws {
    let done = try submit(["--json"] + places, sbatch: sbatch)
    #expect(done.code == 0 && done.out.contains("\"job\":\"\(number)\""), "\(done.out)\(done.err)")
  }

  @Test func withoutSlurmNothingIsMade() throws {
    let none = try submit(places, sbatch: nil)
    #expect(none.code == 69 && none.err.hasPrefix("transfers: error[unavailable]: "), "\(none.err)")
    #expect(none.err.split(separator: "\n").count == 1)
    #expect(access(folder + "/shared", F_OK) != 0)
  }

  @Test func whatSlurmSaysOfAJobThatItRefusesIsTold() throws {
    let refused = try submit(places, sbatch: "echo 'sbatch: error: invalid partition' >&2; exit 1")
    #expect(refused.code == 69 && refused.err.contains("invalid partition"), "\(refused.err)")
    #expect(refused.err.split(separator: "\n").count == 1)
    let unclear = try submit(places, sbatch: "echo no number")
    #expect(unclear.code == 69 && unclear.err.contains("squeue --me"), "\(unclear.err)")
  }

  @Test(arguments: [
    ["--at-once", "0"], ["--tries", "x"], ["--workers", "-1"], ["--rate", "fast"], ["--pull"], ["--", "--stage"],
  ])
  func wrongWordsAreRefused(_ words: [String]) throws {
    let wrong = try submit(words.first == "--" ? places + words : words + places)
    #expect(wrong.code == 64, "\(wrong.err)")
    #expect(access(folder + "/asked", F_OK) != 0)
  }

  /// What every task would refuse. Passwords are never printed.
  @Test(arguments: [
    (["notaurl"], "destination"), (["http://user:hunter2@127.0.0.1:1/in/"], "auth"),
    (["http://127.0.0.1:1/in/", "--", "--bogus"], "--bogus"),
    (["http://127.0.0.1:1/in/", "--", "--auth", "bearer=hunter2"], "reference"),
    (["http://127.0.0.1:1/in/", "--", "--region", "x"], "--region"),
  ])
  func whatTheNodesWouldRefuseIsRefused(_ words: [String], _ cause: String) throws {
    for options in [[], ["--print"]] {
      let refused = try submit(options + places.dropLast() + words)
      #expect(refused.code == 64 && refused.err.contains(cause), "\(refused.err)")
      #expect(!(refused.out + refused.err).contains("hunter2"), "\(refused.out)\(refused.err)")
      #expect(access(folder + "/asked", F_OK) != 0 && access(folder + "/shared", F_OK) != 0)
    }
  }

  @Test func optionsOfADownloadAreChecked() throws {
    let refused = try submit(["--pull", parts, folder + "/shared", "/data/in", "--", "--after", "delete"])
    #expect(refused.code == 64 && refused.err.contains("--after"), "\(refused.err)")
    #expect(access(folder + "/asked", F_OK) != 0)
  }

  /// The nodes may see more than this host, so that it is only a remark.
  @Test func aFolderThatIsNotHereIsTold() throws {
    let done = try submit(places)
    #expect(done.code == 0 && done.out.contains("there is no folder \"/data/o ut\" on this host"), "\(done.out)")
    let here = try submit([parts, folder + "/shared", folder, "http://127.0.0.1:1/in/"])
    #expect(here.code == 0 && !here.out.contains("remark"), "\(here.out)")
  }

  /// With --chdir a task has another working folder.
  @Test func foldersAreAbsolute() throws {
    #expect(try submit(["--local", "disk", parts, folder + "/shared", "tree", "http://127.0.0.1:1/in/"]).code == 0)
    let asked = try readText(folder + "/asked").split(separator: "\n").map(String.init)
    #expect(asked.contains { $0.hasPrefix("/") && $0.hasSuffix("/tree") }, "\(asked)")
    #expect(asked.contains { $0.hasPrefix("/") && $0.hasSuffix("/disk") }, "\(asked)")
  }

  @Test func aSetWithoutFilesIsRefused() throws {
    let built = try program.run(
      "manifest", "convert", "/dev/null", "--list-format", "list", "-o", folder + "/none.jsonl")
    #expect(built.code == 0, "\(built.err)")
    let none = folder + "/none"
    #expect(try program.run("manifest", "shard", folder + "/none.jsonl", "--shards", "2", "--into", none).code == 0)
    let refused = try submit([none] + places.dropFirst())
    #expect(refused.code == 66 && refused.err.contains("the manifest was empty"), "\(refused.err)")
  }

  @Test func aSetThatLacksFilesIsRefusedUntilItIsWanted() throws {
    let index = try readText(parts + "/shards.json")
    try writeFile(parts + "/shards.json", Array(index.replacing("\"failed\":0,", with: "\"failed\":2,").utf8))
    let refused = try submit(places)
    #expect(refused.code == 65 && refused.err.contains("2 files could not be listed"), "\(refused.err)")
    #expect(access(folder + "/asked", F_OK) != 0)
    let wanted = try submit(["--incomplete"] + places)
    #expect(wanted.code == 0 && wanted.out.contains("files not listed     2\n"), "\(wanted.out)\(wanted.err)")
    try writeFile(parts + "/shards.json", Array(index.replacing("\"failed\":0,", with: "").utf8))
    #expect(try submit(places).code == 65, "an index without the number of failed files")
  }

  @Test func aSetThatIsNotWholeIsRefused() throws {
    let index = try readText(parts + "/shards.json")
    #expect(try ShardFolder(parts).shards == ["shard-001.jsonl", "shard-002.jsonl", "shard-003.jsonl"])
    for cut in 1..<index.utf8.count { #expect(ShardIndex.shards(Array(index.utf8.prefix(cut))) == nil, "\(cut)") }
    try writeFile(parts + "/shards.json", Array(index.utf8.dropLast(3)))
    #expect(try submit(places).code == 65)
    try writeFile(parts + "/shards.json", Array(index.utf8))
    try writeFile(parts + "/shard-004.jsonl", [])
    #expect(try submit(places).code == 65)
    unlink(parts + "/shard-004.jsonl")
    let second = try readText(parts + "/shard-002.jsonl")
    try writeFile(parts + "/shard-002.jsonl", Array(second.utf8.dropLast(9)))
    let truncated = try submit(places)
    #expect(truncated.code == 65 && truncated.err.contains("shard-002.jsonl has"), "\(truncated.err)")
    unlink(parts + "/shard-002.jsonl")
    #expect(try submit(places).code == 65)
    unlink(parts + "/shards.json")
    #expect(try submit(places).code == 66)
    #expect(try submit([folder + "/none"] + places.dropFirst()).code == 66)
    #expect(access(folder + "/asked", F_OK) != 0)
  }
}
