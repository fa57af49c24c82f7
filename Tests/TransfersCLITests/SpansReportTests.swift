import FoundationEssentials
import Testing
import TransferModel

/// `report otlp`, against a collector that records the requests.
@Suite struct SpansReportTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try ReadingTests.shared.get().store
  }

  private func run(_ words: [String], environment: [String: String] = [:]) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", store]).map { Array($0.utf8) }, environment: environment)
  }

  private final class Collected: Sendable {
    let requests = Lock<[ScriptedServer.Request]>([])
  }

  private static func spans(_ request: ScriptedServer.Request) throws -> [JSONTree] {
    let document = try JSONDecoder().decode(JSONTree.self, from: Data(request.body))
    return array(document, "resourceSpans").flatMap { array($0, "scopeSpans") }.flatMap { array($0, "spans") }
  }

  private static func member(_ tree: JSONTree, _ key: String) -> JSONTree {
    if case .object(let members) = tree { members[key] ?? .null } else { .null }
  }

  private static func array(_ tree: JSONTree, _ key: String) -> [JSONTree] {
    if case .array(let elements) = member(tree, key) { elements } else { [] }
  }

  private static func text(_ tree: JSONTree, _ key: String) -> String {
    if case .text(let text) = member(tree, key) { text } else { "" }
  }

  private static func attributes(_ span: JSONTree) -> [String: String] {
    array(span, "attributes").reduce(into: [:]) { found, attribute in
      let value = member(attribute, "value")
      found[text(attribute, "key")] = text(value, "stringValue") + text(value, "intValue")
    }
  }

  @Test func everyAttemptArrivesOnceWithItsIdsAndAttributes() throws {
    let collected = Collected()
    let server = try ScriptedServer { request in
      collected.requests.withLock { $0.append(request) }
      return ScriptedServer.Reply(body: "{}")
    }
    let outcome = try run(
      ["report", "otlp", "--endpoint", server.url, "--header", "Authorization=env:COLLECTOR", "--json"],
      environment: ["COLLECTOR": "Bearer hush"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(!outcome.out.contains("hush") && !outcome.err.contains("hush"))
    let requests = collected.requests.withLock { $0 }
    #expect(requests.map(\.target) == ["/v1/traces"] && requests[0].headers["authorization"] == "Bearer hush")
    #expect(requests[0].headers["content-type"] == "application/json")
    let spans = try Self.spans(requests[0])
    let listed = try run(["list", "attempts", "--format", "tsv", "--columns", "id,uid,outcome,http_status"]).out
      .split(separator: "\n").dropFirst().map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(spans.count == listed.count && outcome.out.contains("\"spans_sent\":\(listed.count)"))
    for (span, row) in zip(spans, listed) {
      let attributes = Self.attributes(span)
      #expect(attributes["transfers.attempt"] == String(row[0]))
      #expect(Self.text(span, "spanId") == row[1].filter { $0 != "-" }.suffix(16))
      #expect(Self.text(span, "traceId").count == 32 && attributes["transfers.outcome"] == String(row[2]))
      #expect((attributes["http.response.status_code"] ?? "") == String(row[3]))
      #expect((attributes["error.type"] != nil) == (row[2] != "ok"))
    }
    #expect(Set(spans.map { Self.text($0, "traceId") }).count == 3, "one trace for each file")
  }

  @Test func aBusyCollectorIsAskedAgain() throws {
    let collected = Collected()
    let server = try ScriptedServer { request in
      let count = collected.requests.withLock { requests in
        requests.append(request)
        return requests.count
      }
      if count == 1 { return ScriptedServer.Reply(status: 503, headers: [("Retry-After", "0")]) }
      if count == 2 { return ScriptedServer.Reply(status: 429, headers: [("Retry-After", "0")]) }
      return ScriptedServer.Reply(body: #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#)
    }
    let outcome = try run(["report", "otlp", "--endpoint", server.url + "/x/traces", "--json"])
    #expect(outcome.code == 3)
    #expect(outcome.out.contains(#""spans_rejected":2"#) && outcome.out.contains(#""message":"too old""#))
    #expect(outcome.out.contains(#""requests":3,"retries":2"#), "\(outcome.out)")
    let told = "this page was not accepted: the collector answered 503; attempt 2 of 6 in "
    #expect(outcome.err.contains(told), "\(outcome.err)")
    #expect(collected.requests.withLock { $0.map(\.target) } == ["/x/traces", "/x/traces", "/x/traces"])
    #expect(outcome.err.contains("error[spans_rejected]"))
  }

  @Test func aRefusalIsToldAndNotRepeated() throws {
    let collected = Collected()
    let server = try ScriptedServer { request in
      collected.requests.withLock { $0.append(request) }
      return ScriptedServer.Reply(status: 401, body: "no")
    }
    let outcome = try run(["report", "otlp", "--endpoint", server.url])
    #expect(outcome.code == 77 && collected.requests.withLock { $0.count } == 1)
    #expect(outcome.err.contains("answered 401"), "\(outcome.err)")
  }

  /// A collector may quote the request, in a refusal, in an answer after which the request is sent again, and in its
  /// remarks about an accepted one.
  @Test(arguments: [401, 503, 200]) func whatItQuotesOfASecretHeaderIsHidden(_ status: Int) throws {
    let count = Lock(0)
    let server = try ScriptedServer { request in
      let headers = [request.headers["authorization"] ?? "", request.headers["x-key"] ?? ""]
      let said = "no \(headers.joined(separator: ", ")); sEcr3t-key-value dXNlcjpzRWNyM3Qta2V5LXZhbHVl"
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      guard status == 200 || status == 503 && !isFirst else { return ScriptedServer.Reply(status: status, body: said) }
      return ScriptedServer.Reply(body: #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"\#(said)"}}"#)
    }
    for value in ["Bearer sEcr3t-key-value", "Basic dXNlcjpzRWNyM3Qta2V5LXZhbHVl"] {
      count.withLock { $0 = 0 }
      let headers = ["--header", "Authorization=env:TOKEN", "--header", "X-Key=env:KEY"]
      let outcome = try run(
        ["report", "otlp", "--endpoint", server.url] + headers, environment: ["TOKEN": value, "KEY": "an0ther-key"])
      for text in [outcome.out, outcome.err] {
        #expect(!text.contains("an0ther-key") && !text.contains(value.split(separator: " ")[1]), "\(text)")
        #expect(value.hasPrefix("Bearer") || !text.contains("sEcr3t"), "\(text)")
      }
      #expect((outcome.out + outcome.err).contains("[hidden]"), "\(outcome)")
    }
  }

  @Test func aPageThatIsNotACollectorIsAnError() throws {
    let server = try ScriptedServer { _ in ScriptedServer.Reply(body: "<html>welcome</html>") }
    let outcome = try run(["report", "otlp", "--endpoint", server.url])
    #expect(outcome.code == 78 && outcome.out.isEmpty, "\(outcome.out)")
    #expect(outcome.err.contains("not from a collector (0 spans were sent before)"), "\(outcome.err)")
  }

  @Test func selectionsHoldForSpansToo() throws {
    let collected = Collected()
    let server = try ScriptedServer { request in
      collected.requests.withLock { $0.append(request) }
      return ScriptedServer.Reply(body: "{}")
    }
    #expect(try run(["report", "otlp", "--endpoint", server.url, "--error", "http.503"]).code == 0)
    let spans = try Self.spans(try #require(collected.requests.withLock { $0.first }))
    #expect(spans.map { Self.attributes($0)["error.type"] } == ["http.503"])
    #expect(try run(["report", "otlp", "--endpoint", server.url, "--batch", "b2"]).code == 0)
    #expect(collected.requests.withLock { $0.count } == 1, "an empty selection sends no request")
  }
}
