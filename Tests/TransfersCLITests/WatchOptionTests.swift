import Glibc
import TransferModel
import Testing

@testable import TransfersCLI

@Suite struct WatchOptionTests {
  private func config(_ values: [String]) throws -> (config: Config, faults: [ConfigFault]) {
    ConfigReader.read(try WatchOption(values).text, file: WatchOption.name, home: nil)
  }

  @Test func aFolderAndItsDestinationAreAWatchedJob() throws {
    let url = "https://h.example/in/?a=b&c='d'"
    let (config, faults) = try config(["/data/out \"x\"\\\u{E9}\t=\(url)"])
    #expect(faults.isEmpty)
    let job = try #require(config.jobs["watch-data-out--x----"])
    #expect(job["from"]?.values == ["/data/out \"x\"\\\u{E9}\t"])
    #expect(job["to"]?.value == url)
    #expect(job.isWatched)
    #expect(try JobSchedule(job) == .watched)
  }

  /// Other folders that the name would match as a pattern are not included.
  @Test func aFolderWithTheSignsOfAPatternIsAFolderAlsoWhileItIsMissing() throws {
    let program = try BuiltProgram()
    let (folder, name) = (program.folder.path, program.folder.path + "/in[1]*\\x")
    for other in ["in1", "in1x", "in1yx"] {
      mkdir("\(folder)/\(other)", 0o700)
      try writeFile("\(folder)/\(other)/other", [])
    }
    let (config, faults) = try config(["\(name)=https://h/"])
    #expect(faults.isEmpty)
    let job = try #require(config.jobs.values.first)
    #expect(job["base"]?.value == name)
    let from = try #require(job["from"]?.value)
    func plan() throws -> BuiltProgram.Outcome {
      try program.run(
        "push", "-n", "--json", "--config", "/dev/null", "--store", folder + "/l.db", "--base", name, from, "https://h/"
      )
    }
    #expect(try plan().code == 66)
    mkdir(name, 0o700)
    try writeFile(name + "/mine", [])
    let planned = try plan()
    #expect(planned.code == 0 && planned.out.contains("\"mine\"") && !planned.out.contains("other"), "\(planned.out)")
  }

  @Test func twoFoldersOfOneNameAreRefused() {
    #expect(throws: CommandFailure.self) { try WatchOption(["/a/b=x:", "/a+b=x:"]) }
  }

  @Test func aJobOfAFileKeepsItsName() throws {
    let own = try config(["/a=https://h/"]).config
    try WatchOption.check(own, beside: Config())
    #expect(throws: CommandFailure.self) { try WatchOption.check(own, beside: own) }
  }

  @Test func watchNeedsFoldersAndKeepsOtherTimes() throws {
    func read(_ job: String) -> (config: Config, faults: [ConfigFault]) {
      ConfigReader.read(Array("jobs:\n  aa:\n    to: https://h/\n\(job)".utf8), file: "c", home: nil)
    }
    let listed = read("    files_from: /list\n    watch: true\n")
    #expect(
      listed.faults.map { "\($0.place): \($0.message)" }.first?.hasPrefix("c:5:12: \"watch\" takes the folders") == true
    )
    #expect(read("    from: /d\n    watch: sometimes\n").faults.count == 1)
    let timed = read("    from: /d\n    every: 1h\n    watch: true\n").config.jobs["aa"]
    #expect(try JobSchedule(try #require(timed)) == .every(3_600_000))
    let off = read("    from: /d\n    watch: false\n").config.jobs["aa"]
    #expect(try JobSchedule(try #require(off)) == nil)
  }
}
