import Glibc
import Testing

@testable import TransfersCLI

/// Jobs that can never run: the check of the configuration refuses what the run refuses, at the same place.
@Suite struct ConfigJobTests {
  private let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var config: String { "\(folder)/c.yaml" }

  init() throws {
    program = try BuiltProgram()
    mkdir("\(folder)/out", 0o700)
    try writeFile("\(folder)/out/a", Array("a".utf8))
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run(
      (words + ["--config", config, "--store", "\(folder)/l.db"]).map { Array($0.utf8) })
  }

  /// `config check` reports it; only its job is refused.
  @Test(arguments: [
    "cron: \"61 * * * *\"", "quota: lots", "every: 5", "watch: maybe", "mail: {a: b}", "mail: \"a b\"", "settle: soon",
  ])
  func anInvalidValueStopsOnlyItsJob(_ setting: String) throws {
    let text = """
      jobs:
        wrong:
          \(setting)
          from: \(folder)/out
          to: "http://127.0.0.1:9/in/"
        right:
          from: \(folder)/out
          to: "http://127.0.0.1:9/in/"

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    #expect(try run("push", "-n", "\(folder)/out", "http://127.0.0.1:9/in/").code == 0)
    #expect(try run("job", "plan", "right").code == 0)
    let checked = try run("config", "check")
    #expect(
      checked.code == 78 && checked.out.split(separator: "\n").count { $0.contains("c.yaml:3:") } == 1, "\(checked.out)"
    )
    let refused = try run("job", "run", "wrong")
    #expect(refused.code == 78 && refused.err.contains("\(config):3:"), "\(refused.err)")
  }

  /// Who begins with the example, and changes nothing yet, finds no fault in it.
  @Test func theExamplePassesTheCheck() throws {
    try writeFile(config, Array(try run("config", "example").out.utf8))
    chmod(config, 0o600)
    let checked = try run("config", "check")
    #expect(checked.code == 0, "\(checked.out)")
  }

  /// A key that is not known may be a misspelt setting of any job.
  @Test func anUnknownKeyStopsEverything() throws {
    try writeFile(config, Array("jobs:\n  wrong: {form: /a, to: \"http://h/\"}\n".utf8))
    chmod(config, 0o600)
    #expect(try run("push", "-n", "\(folder)/out", "http://127.0.0.1:9/in/").code == 78)
  }

  /// A fault of a destination is reported once, at its position, and not again with the job that uses it.
  @Test func aFaultOfADestinationIsReportedOnce() throws {
    let text = """
      destinations:
        box: {url: "http://127.0.0.1:9/in/", workers: many}
      jobs:
        nightly: {from: \(folder)/out, to: box}

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let checked = try run("config", "check")
    #expect(checked.out.split(separator: "\n").count { $0.contains("c.yaml:") } == 1, "\(checked.out)")
    #expect(checked.out.contains("workers \"many\" is not a number"), "\(checked.out)")
  }

  /// With the line of the setting that is named first.
  private static let jobs: [(job: String, line: Int, message: String)] = [
    ("growing: segments\n    after: delete", 4, "\"growing\" segments and \"after\" exclude each other"),
    ("growing: segments\n    settle: 60s", 4, "\"growing\" segments and \"settle\" exclude each other"),
    ("growing: segments\n    dedupe: true", 4, "\"growing\" segments and \"dedupe\" exclude each other"),
    ("follow_symlinks: true\n    after: delete", 5, "\"after\" would remove the targets of symbolic links"),
    ("ready_file: nothing", 4, "\"ready_file\" is not a pattern for a file beside its source"),
    ("include: \"[\"", 4, "include ["),
    ("after: \"move:FOLDER/out/sent\"", 4, "it is among the sources"),
    ("name: \"{label.zz}\"", 4, "{label.zz}, which has no value"),
    ("method: put", 4, "method"),
    ("name: fixed\n    to: \"http://h/{date}/\"", 4, "\"name\" is the same on days with different values of \"to\""),
    ("name: \"{year}-{day}\"\n    to: \"http://h/{date}/\"", 4, "\"name\" is the same on days"),
  ]

  @Test(arguments: Self.jobs) func theCheckRefusesWhatTheRunRefuses(
    _ job: (job: String, line: Int, message: String)
  ) throws {
    let text = """
      jobs:
        wrong:
          syslog: false
          \(job.job)
          from: FOLDER/out
          \(job.job.contains("to: ") ? "" : "to: \"http://127.0.0.1:9/in/\"")

      """
    try writeFile(config, Array(text.replacing("FOLDER", with: folder).utf8))
    chmod(config, 0o600)
    let checked = try run("config", "check")
    #expect(checked.code == 78, "\(checked.out)\(checked.err)")
    let place = "\(config):\(job.line):"
    #expect(checked.out.contains(place) && checked.out.contains(job.message), "\(checked.out)")
    let ran = try run("job", "run", "wrong")
    #expect(ran.code == 78)
    #expect(ran.err.contains(place) && ran.err.contains(job.message), "\(ran.err)")
    #expect(ran.err.split(separator: "\n").count == 1)
    #expect(ran.err.hasSuffix("Try: transfers config check \(config)\n"), "\(ran.err)")
  }

  /// A setting that is right only together with another one, or in place of the sources.
  @Test(arguments: [
    "files_from: FOLDER/list, to: URL",
    "files_from: FOLDER/list.csv, list_format: csv, missing: skip, base: FOLDER, to: URL",
    "files_from0: FOLDER/list, base: FOLDER, to: URL",
    "direction: download, files_from: FOLDER/urls, list_format: csv, base_url: URL, to: FOLDER/in",
    "direction: download, from: URL, overwrite: true, zsync: true, to: FOLDER/in",
    "from: FOLDER/out, name: \"{date}\", to: \"http://h/{year}/{month}/{day}/\"",
    "from: FOLDER/out, name: \"{year}{month}\", to: \"http://h/{month}/{year}/\"",
    "from: FOLDER/out, name: fixed, to: URL",
  ]) func theCheckAcceptsWhatARunTakes(_ job: String) throws {
    let text = job.replacing("FOLDER", with: folder).replacing("URL", with: "\"http://127.0.0.1:9/in/\"")
    try writeFile(config, Array("jobs: {right: {\(text)}}\n".utf8))
    let outcome = try run("config", "check")
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.err)")
  }

  /// A field of a destination that the job gives no value.
  @Test func aFieldOfADestinationNeedsItsLabel() throws {
    let box = "destinations: {box: {url: \"http://127.0.0.1:9/{label.zz}/\"}}"
    let text = "\(box)\njobs:\n  wrong: {from: \(folder)/out, to: box"
    try writeFile(config, Array("\(text)}\n".utf8))
    let wrong = try run("config", "check")
    #expect(wrong.code == 78 && wrong.out.contains(":3:"), "\(wrong.out)")
    #expect(try run("job", "run", "wrong").code == 78)
    try writeFile(config, Array("\(text), labels: {zz: x}}\n".utf8))
    let right = try run("config", "check")
    #expect(right.code == 0, "\(right.out)")
  }

  /// The date may be in the URL of a destination.
  @Test func aNamedDestinationWithADateNeedsItInTheName() throws {
    let box = "destinations: {box: {url: \"http://127.0.0.1:9/{date}/\"}}"
    let text = "\(box)\njobs:\n  wrong: {from: \(folder)/out, to: box, name: "
    try writeFile(config, Array("\(text)fixed}\n".utf8))
    let wrong = try run("config", "check")
    #expect(wrong.code == 78 && wrong.out.contains(":3:") && wrong.out.contains("same on days"), "\(wrong.out)")
    try writeFile(config, Array("\(text)\"{date}\"}\n".utf8))
    let right = try run("config", "check")
    #expect(right.code == 0, "\(right.out)")
  }

  /// One duplicate key does not hide the other faults.
  @Test func aDuplicateKeyIsOneOfAllFaults() throws {
    let text = """
      jobs:
        one: {from: \(folder)/out, to: "http://h/in/", to: "http://h/other/"}
        two: {from: \(folder)/out, to: "http://h/in/", wrokers: 2}
        one: {from: \(folder)/out, to: "http://h/in/"}

      """
    try writeFile(config, Array(text.utf8))
    let outcome = try run("config", "check")
    #expect(outcome.code == 78)
    for fault in [":2:", "the key \"to\" is duplicated", ":3:", "wrokers", ":4:3: the key \"one\" is duplicated"] {
      #expect(outcome.out.contains(fault), "\(outcome.out)")
    }
    #expect(outcome.err.contains("3 faults"))
  }
}
