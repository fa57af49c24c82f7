import Glibc
import Testing
import TransferModel

/// The URL of an upload session works as a secret. Servers often quote the request: whatever they quote, the URL must
/// not appear in output, nor in what the ledger records about an error.
@Suite struct EchoedSessionTests {
  private let program: BuiltProgram
  private var store: String { program.folder.path + "/l.db" }

  init() throws {
    program = try BuiltProgram()
    try writeFile(program.folder.path + "/f", [UInt8](repeating: 7, count: 400_000))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    /// Path and query of the session.
    var place: String
    var arguments: [String]
    /// The answer that opens the session, given its URL.
    var opens: @Sendable (String) -> ScriptedServer.Reply
    var testDescription: String { name }
  }

  private static let token = "c4p4b1l1ty-0123456789abcdef"

  static let cases = [
    Case(name: "tus", place: "/files/\(token)", arguments: []) { url in
      ScriptedServer.Reply(status: 201, headers: [("Location", url), ("Tus-Resumable", "1.0.0")])
    },
    Case(name: "tus with a query", place: "/files/a?w=1&k=\(token)&z=2", arguments: []) { url in
      ScriptedServer.Reply(status: 201, headers: [("Location", url), ("Tus-Resumable", "1.0.0")])
    },
    Case(
      name: "graph", place: "/up/sess?tempauth=\(token)&n=1",
      arguments: ["--via", "graph", "--input", "drive=d", "--input", "token=env:GRAPH"]
    ) { url in
      ScriptedServer.Reply(body: #"{"uploadUrl":"\#(url)","expirationDateTime":"2099-01-01T00:00:00Z"}"#)
    },
    Case(
      name: "google", place: "/upload?uploadType=resumable&upload_id=\(token)", arguments: ["--via", "google"]
    ) { url in ScriptedServer.Reply(headers: [("Location", url)]) },
  ]

  /// The forms in which a server may quote the URL.
  private static func quotes(_ url: String, _ place: String) -> [String] {
    let encoded = url.utf8.map { byte in
      let scalar = UnicodeScalar(byte)
      let isPlain = scalar.properties.isAlphabetic || (48...57).contains(byte) || byte == 0x2D
      return isPlain ? String(scalar) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
    return [
      url, place, encoded, url.replacing("/", with: #"\/"#), url.replacing("&", with: "&amp;"),
      url.replacing("&", with: #"\u0026"#), token,
    ]
  }

  @Test(arguments: cases, [400, 500]) func whatAServerQuotesIsHidden(_ subject: Case, status: Int) throws {
    let quoted = Mailbox<Void>()
    let server = try ScriptedServer { [subject] request in
      let url = "http://\(request.headers["host"] ?? "")\(subject.place)"
      switch request.method {
      case "POST" where !request.target.contains(Self.token): return subject.opens(url)
      case "HEAD":
        return ScriptedServer.Reply(headers: [
          ("Upload-Offset", "0"), ("Tus-Resumable", "1.0.0"), ("Cache-Control", "no-store"),
        ])
      case "OPTIONS", "DELETE": return ScriptedServer.Reply(status: 204, headers: [("Tus-Resumable", "1.0.0")])
      default:
        let quotes = Self.quotes(url, subject.place).joined(separator: " ; ")
        quoted.put(())
        return ScriptedServer.Reply(
          status: status, headers: [("X-Request-Id", "r \(subject.place)"), ("X-Error", url), ("Location", url)],
          body: "echo begins: \(quotes) : echo ends")
      }
    }
    let destination = subject.name.hasPrefix("tus") ? "tus+\(server.url)/files/" : server.url + "/upload"
    let environment = ["GRAPH": "graph-token-of-this-test", "TRANSFERS_DRAIN_TIMEOUT": "1s"]
    let running = try program.start(
      ["push", program.folder.path + "/f", destination, "--store", store, "--progress", "json"] + subject.arguments,
      environment: environment)
    // A 400 is final; a server error would be retried for a long time.
    if status == 500 {
      var count = 0
      // A limit for failures only; a passing test never waits this long.
      while count < 2, let came = quoted.take(timeoutMs: 60_000)?.count, came > 0 { count += came }
      #expect(count >= 2)
      running.signal(SIGINT)
      running.signal(SIGINT)
    }
    let outcome = try running.wait()
    var seen = ["push": outcome.out + outcome.err]
    for words in Self.readers { seen[words.joined(separator: " ")] = try shown(words) }
    for (what, text) in seen { #expect(!text.contains(Self.token), "\(subject) \(status): \(what) says \(text)") }
    let excerpts = try shown("store", "sql", "SELECT CAST(reply_excerpt AS TEXT) FROM v_attempts")
    #expect(excerpts.contains("echo begins: [hidden] ; [hidden] ; "), "\(excerpts)")
  }

  // MARK: - Successes

  struct Success: Sendable, CustomTestStringConvertible {
    var name: String
    /// The text that must not be stored.
    var secret = EchoedSessionTests.token
    /// Path and query of the session; empty if there is none.
    var place = ""
    /// The text before the URL of the server, and the text after it.
    var destination: (String, String)
    var arguments: [String] = []
    var environment: [String: String] = [:]
    /// The answer, without its request ID. Receives the URL of the session.
    var answers: @Sendable (ScriptedServer.Request, String) -> ScriptedServer.Reply
    var testDescription: String { name }

    /// The forms in which a request ID may quote the secret.
    func quotes(_ url: String) -> [String] {
      let encoded = secret.replacing("/", with: "%2F").replacing("+", with: "%2B")
      return Array(Set([secret, encoded] + (place.isEmpty ? ["Bearer \(secret)"] : [place, url]))).sorted()
    }
  }

  static let successes = [
    Success(
      name: "tus", place: "/files/\(token)", destination: ("tus+", "/files/"), answers: tus),
    Success(
      name: "tus with a query", place: "/files/a?w=1&k=\(token)&z=2", destination: ("tus+", "/files/"), answers: tus),
    Success(name: "resumable", place: "/up/\(token)", destination: ("resumable+", "/in/")) { request, url in
      let version = ("Upload-Draft-Interop-Version", "8")
      switch request.method {
      case "OPTIONS": return .init(status: 204, headers: [("Upload-Limit", "max-append-size=200000")])
      case "HEAD":
        return .init(status: 204, headers: [("Upload-Offset", "0"), ("Upload-Complete", "?0"), version])
      case "PATCH":
        let end = (request.headers["upload-offset"].flatMap { Int($0) } ?? 0) + request.body.count
        let isEnd = request.headers["upload-complete"] == "?1"
        return .init(
          status: isEnd ? 201 : 204,
          headers: [("Upload-Offset", "\(end)"), ("Upload-Complete", isEnd ? "?1" : "?0"), version])
      default:
        return .init(
          status: 201,
          headers: [
            ("Location", url), ("Upload-Offset", "\(request.body.count)"), ("Upload-Complete", "?0"), version,
          ])
      }
    },
    Success(
      name: "S3", secret: "s3cr3t/K3y+of0123456789", destination: ("", ""), arguments: ["--part-size", "5MiB"],
      environment: [
        "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "s3cr3t/K3y+of0123456789", "AWS_REGION": "us-east-1",
      ]
    ) { request, _ in
      s3.state.withLock { $0.isSilent = false }
      return s3.answer(request) ?? .init(status: 500)
    },
    Success(
      name: "put", secret: "t0ken-0f/this+test", destination: ("", "/in/"), arguments: ["--auth", "bearer=env:TOKEN"],
      environment: ["TOKEN": "t0ken-0f/this+test"]
    ) { _, _ in .init(status: 201) },
    Success(
      name: "graph", place: "/up/sess?tempauth=\(token)&n=1", destination: ("", "/upload"),
      arguments: ["--via", "graph", "--input", "drive=d", "--input", "token=env:GRAPH"],
      environment: ["GRAPH": "graph-token-of-this-test"]
    ) { request, url in
      request.method == "PUT"
        ? .init(status: 201, body: #"{"id":"1","size":400000,"eTag":"e"}"#)
        : .init(body: #"{"uploadUrl":"\#(url)","expirationDateTime":"2099-01-01T00:00:00Z"}"#)
    },
  ]

  private static let s3 = ScriptedS3()

  private static let tus: @Sendable (ScriptedServer.Request, String) -> ScriptedServer.Reply = { request, url in
    let version = ("Tus-Resumable", "1.0.0")
    switch request.method {
    case "POST": return .init(status: 201, headers: [("Location", url), version])
    case "PATCH":
      let end = (request.headers["upload-offset"].flatMap { Int($0) } ?? 0) + request.body.count
      return .init(status: 204, headers: [("Upload-Offset", "\(end)"), version])
    default:
      return .init(
        headers: [("Upload-Offset", "400000"), ("Upload-Length", "400000"), version, ("Cache-Control", "no-store")])
    }
  }

  /// The request ID is stored with the attempt and with the receipt, even if its answer is the first one that names the
  /// session.
  @Test(arguments: successes) func whatASuccessQuotesIsHidden(_ subject: Success) throws {
    let asked = Lock(0)
    if subject.name == "S3" { try writeFile(program.folder.path + "/f", [UInt8](repeating: 7, count: 12 << 20)) }
    for turn in subject.quotes("").indices {
      let server = try ScriptedServer { [subject] request in
        let url = "http://\(request.headers["host"] ?? "")\(subject.place)"
        var reply = subject.answers(request, url)
        let quotes = subject.quotes(url)
        let number = asked.withLock { asked in
          asked += 1
          return asked
        }
        // Before there is a session, there is nothing to quote.
        let quote = request.method == "OPTIONS" ? "" : quotes[(turn + number) % quotes.count]
        reply.headers.append(("X-Request-Id", "r \(quote)"))
        return reply
      }
      let target =
        subject.name == "S3"
        ? ["s3://bucket/in\(turn)/", "--endpoint-url", server.url]
        : [subject.destination.0 + server.url + subject.destination.1]
      let outcome = try program.run(
        (["push", program.folder.path + "/f"] + target + ["--store", store] + subject.arguments).map { Array($0.utf8) },
        environment: subject.environment)
      #expect(outcome.code == 0, "\(subject): \(outcome.out) \(outcome.err)")
    }
    for words in [["list", "attempts", "--json"], ["list", "files", "--json"], ["show", "f1", "--json"]] {
      let text = try shown(words).replacing(#"\/"#, with: "/")
      for quote in subject.quotes("").filter({ !$0.isEmpty }) {
        #expect(!text.contains(quote), "\(words) says \(quote): \(text)")
      }
    }
    for view in ["v_attempts", "v_files"] {
      let ids = try shown("store", "sql", "SELECT DISTINCT coalesce(request_id, 'none') FROM \(view)")
      for id in ids.split(separator: "\n").dropFirst() {
        #expect(id == "r" || (id.hasPrefix("r ") && id.contains("[hidden]")) || id == "-", "\(view): \(id)")
      }
      // A tus receipt has no request ID if the last body was the last request.
      #expect(ids.contains("[hidden]") || (view == "v_files" && subject.name.hasPrefix("tus")), "\(view): \(ids)")
    }
  }

  private static let readers: [[String]] = [
    ["status"], ["status", "--json"], ["show", "f1"], ["show", "f1", "--json"], ["show", "b1", "--json"],
    ["list", "attempts", "--json"], ["list", "attempts"], ["list", "files", "--json"], ["report", "summary", "--json"],
    ["report", "failures"], ["report", "failures", "--json"], ["report", "attempts", "--json"],
    ["list", "events", "--json"],
    ["store", "sql", "--json", "SELECT * FROM v_attempts"], ["store", "sql", "--json", "SELECT * FROM v_files"],
    ["store", "sql", "--json", "SELECT CAST(reply_excerpt AS TEXT) FROM v_attempts"], ["gc", "--json"],
  ]

  private func shown(_ words: String...) throws -> String { try shown(words) }

  private func shown(_ words: [String]) throws -> String {
    let reader = try BuiltProgram()
    let outcome = try reader.run((words + ["--store", store]).map { Array($0.utf8) })
    #expect(outcome.code == 0, "\(words): \(outcome.err)")
    return outcome.out + outcome.err
  }
}
