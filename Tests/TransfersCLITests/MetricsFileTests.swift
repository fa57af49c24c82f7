import Glibc
import Testing

/// What `prom_file` may replace, and that no job sends it.
@Suite struct MetricsFileTests {
  private let scene: ReceiverScene
  private var folder: String { scene.folder }
  private var config: String { folder + "/config.yaml" }

  init() throws {
    scene = try ReceiverScene(script: "")
    try writeFile(scene.folder + "/in/a", Array("one".utf8))
  }

  private func run(_ file: String) throws -> BuiltProgram.Outcome {
    let to = "\"\(scene.receiver.url)/up/\""
    try writeFile(config, Array("jobs: {all: {from: \(folder)/in, to: \(to), prom_file: \(file)}}".utf8))
    chmod(config, 0o600)
    return try scene.transfers(["job", "run", "all", "-v", "--no-syslog", "--config", config])
  }

  @Test(arguments: ["config.yaml", "notes", "link"]) func anotherFileStays(_ name: String) throws {
    let path = folder + "/" + name
    try writeFile(folder + "/notes", Array("# HELP\nthat nobody else has\n".utf8))
    symlink("notes", folder + "/link")
    let outcome = try run(path)
    let before = name == "config.yaml" ? try readText(config) : "# HELP\nthat nobody else has\n"
    #expect(before.contains("prom_file") == (name == "config.yaml"))
    #expect(outcome.code == 1)
    #expect(outcome.err.contains("prom_file \"\(path)\" has something else than metrics"), "\(outcome.err)")
    #expect(try readText(path) == before)
    #expect(try names(in: folder + "/objects/up") == ["a"])
    #expect(try names(in: folder).allSatisfy { !$0.hasPrefix(".transfers-") })
  }

  @Test func itsOwnAndAnEmptyFileAreReplaced() throws {
    let path = folder + "/m.prom"
    try writeFile(path, [])
    for _ in 0..<2 {
      let outcome = try run(path)
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(try readText(path).hasPrefix("# HELP transfers_job_"))
    }
  }

  /// The collector reads an old file then, whatever else is wrong.
  @Test func itsErrorIsToldBesideThatOfTheRun() throws {
    let (sources, file) = ("[\(folder)/in, \(folder)/away]", "\(folder)/none/m.prom")
    let job = "{from: \(sources), to: \"\(scene.receiver.url)/up/\", prom_file: \(file)}"
    try writeFile(config, Array("jobs: {all: \(job)}".utf8))
    chmod(config, 0o600)
    let outcome = try scene.transfers(["job", "run", "all", "--no-syslog", "--config", config])
    #expect(outcome.code == 66)
    let lines = outcome.err.split(separator: "\n").map(String.init)
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].contains("error[output]: open \"\(file)\"") && lines[1].contains("error[no_source]"), "\(lines)")
    #expect(try names(in: folder + "/objects/up/in") == ["a"])
  }

  @Test func itIsNotSent() throws {
    for count in [1, 0, 0] {
      let outcome = try run(folder + "/in/m.prom")
      #expect(outcome.code == 0 && outcome.out.contains("files=\(count) "), "\(outcome.out)\(outcome.err)")
    }
    #expect(try names(in: folder + "/objects/up") == ["a"])
    #expect(access(folder + "/in/m.prom", F_OK) == 0)
    let plan = try scene.transfers(["job", "run", "-n", "all", "--config", config])
    #expect(!plan.out.contains("m.prom\"") && plan.code == 0, "\(plan.out)")
    // It is a file like any other for whoever names it.
    let push = try scene.transfers(["push", folder + "/in/m.prom", scene.receiver.url + "/metrics/"])
    #expect(push.code == 0 && access(folder + "/objects/metrics/m.prom", F_OK) == 0, "\(push.err)")
  }
}
