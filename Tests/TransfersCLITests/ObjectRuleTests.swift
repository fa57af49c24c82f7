import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Properties that rules give to objects, checked by what the server received.
@Suite struct ObjectRuleTests {
  private struct Received: Sendable {
    var requests: [(target: String, headers: [String: String])] = []
    var status = 200
  }

  private final class Server: Sendable {
    let state = Lock(Received())
    func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply {
      state.withLock { state in
        state.requests.append((request.target, request.headers))
        return .init(status: state.status, headers: [("ETag", "\"e\"")])
      }
    }
    /// The headers of the last request whose target ends with `end`.
    func headers(_ end: String) -> [String: String]? {
      state.withLock { $0.requests.last { $0.target.hasSuffix(end) }?.headers }
    }
  }

  private let program: BuiltProgram
  private let seen = Server()
  private let server: ScriptedServer
  private var source: String { program.folder.path + "/source" }
  private var config: String { program.folder.path + "/config.yaml" }
  private let keys = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret-key", "AWS_REGION": "us-east-1"]

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [seen] in seen.answer($0) }
    mkdir(source, 0o700)
    mkdir(source + "/raw", 0o700)
    for name in ["raw/a.bam", "b.csv"] { try writeFile(source + "/" + name, Array(name.utf8)) }
  }

  private func configure(_ rules: String, to destination: String = "s3://bucket/in/") throws {
    let text = """
      destinations:
        box: {url: "\(destination)"\(destination.hasPrefix("s3") ? ", endpoint_url: \"\(server.url)\"" : "")}
      jobs:
        nightly:
          from: \(source)
          to: box
          rules:
      \(rules.split(separator: "\n").map { "      - \($0)" }.joined(separator: "\n"))

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    let store = program.folder.path + "/l.db"
    return try program.run(
      (words + ["--config", config, "--store", store]).map { Array($0.utf8) }, environment: keys)
  }

  @Test func anObjectHasWhatTheFirstMatchingRuleSays() throws {
    try configure(
      """
      {match: "raw/**", storage_class: GLACIER, tags: {kind: "raw data"}}
      {match: "*", storage_class: STANDARD_IA, content_type: auto, headers: {Cache-Control: "no-cache, private"}}
      """)
    #expect(try run("config", "check").code == 0)
    let outcome = try run("job", "run", "nightly", "--no-syslog")
    #expect((outcome.code, outcome.err) == (0, ""))
    let (bam, csv) = (try #require(seen.headers("raw/a.bam")), try #require(seen.headers("b.csv")))
    #expect(bam["x-amz-storage-class"] == "GLACIER" && bam["x-amz-tagging"] == "kind=raw%20data")
    #expect(csv["x-amz-storage-class"] == "STANDARD_IA" && csv["x-amz-tagging"] == nil)
    #expect(csv["content-type"] == "text/csv" && csv["cache-control"] == "no-cache, private")
    #expect(bam["cache-control"] == "no-cache, private")

    let shown = try run("show", "f1", "--json").out + run("show", "f2", "--json").out
    #expect(shown.contains("GLACIER") && shown.contains("header.cache-control"))
  }

  /// Waiting files keep the properties recorded with them; failed files are recorded again with the new rules.
  @Test func changedRulesAreForWhatIsRecordedLater() throws {
    try configure("{match: \"*\", headers: {x-rule: one}}", to: server.url + "/in/")
    seen.state.withLock { $0.status = 503 }
    #expect(try run("job", "run", "nightly", "--no-syslog", "--max-duration", "1s").code == 5)
    seen.state.withLock { $0.status = 400 }
    try configure("{match: \"*\", headers: {x-rule: two}}", to: server.url + "/in/")
    #expect(try run("job", "run", "nightly", "--no-syslog").code == 4)
    #expect(seen.headers("b.csv")?["x-rule"] == "one")
    seen.state.withLock { $0.status = 200 }
    #expect(try run("job", "run", "nightly", "--no-syslog").code == 0)
    #expect(seen.headers("b.csv")?["x-rule"] == "two" && seen.headers("raw/a.bam")?["x-rule"] == "two")
  }

  @Test func aNewVersionThatTheEngineFindsHasTheSame() throws {
    try configure("{match: \"*\", headers: {x-rule: one}}", to: server.url + "/in/")
    let added = try run("add", source, server.url + "/in/", "--rule", "*.csv:header.x-rule=typed")
    #expect(added.code == 0, "\(added.err)")
    try writeFile(source + "/b.csv", Array("another content".utf8))
    #expect(try run("run").code == 0)
    #expect(seen.headers("b.csv")?["x-rule"] == "typed")
    #expect(seen.headers("b.csv")?["content-length"] == "15")
    #expect(seen.headers("raw/a.bam")?["x-rule"] == nil)
  }

  @Test(arguments: [
    ("{match: \"*\", storage_class: GLACIER}", "\"storage_class\" does not apply to the protocol of this destination"),
    ("{match: \"*\", tags: {a: b}}", "\"tag.a\" does not apply"),
    ("{match: \"[\", content_type: text/csv}", ":8:22: \"[\" without \"]\""),
    ("{match: \"*\", content_type: csv}", ":8:22: \"csv\" is not a media type"),
    ("{match: \"*\", contenttype: a/b}", ":8:22: unknown key \"contenttype\"; did you mean \"content_type\"?"),
    ("{match: \"*\"}", ":8:9: a rule needs \"match\", a pattern, and at least one setting"),
    ("{content_type: a/b}", "a rule needs \"match\""),
    ("{match: \"*\", headers: {authorization: \"Bearer s3cr3t\"}}", "it may be a secret"),
    ("{match: \"*\", headers: {content-length: 3}}", "sets this header itself"),
  ])
  func theCheckFindsWhatCannotBe(_ rule: String, _ message: String) throws {
    try configure(rule, to: server.url + "/in/")
    let outcome = try run("config", "check")
    #expect(outcome.code == 78)
    #expect((outcome.out + outcome.err).contains(message), "\(outcome.out)\(outcome.err)")
    #expect(!(outcome.out + outcome.err).contains("s3cr3t"))
    let ran = try run("job", "run", "nightly", "--no-syslog")
    #expect(ran.code == 78 || ran.code == 64)
    #expect(seen.state.withLock { $0.requests.isEmpty })
  }

  @Test func aTypedRuleForAnotherProtocolIsAnError() throws {
    try configure("{match: \"*\", content_type: text/csv}", to: server.url + "/in/")
    let outcome = try run("push", source, server.url + "/in/", "--rule", "*:storage_class=GLACIER")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("this destination has no storage_class"))
    #expect(try run("push", source, server.url + "/in/", "--rule", "*.csv").code == 64)
  }
}
