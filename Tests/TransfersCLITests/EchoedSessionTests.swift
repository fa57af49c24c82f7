import Glibc
import Testing
import TransferModel

/// The URL of an upload session works as a secret. Servers like to quote the request: whatever they quote, nothing that people see
/// and nothing that the ledger says of an error holds it.
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
    /// What opens the session, with its URL.
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

  /// How a server may spell what it quotes.
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
    let quoted = Lock(0)
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
        quoted.withLock { $0 += 1 }
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
    // A refusal is final; an error of the server would be tried again for long.
    if status == 500 {
      while quoted.withLock({ $0 }) < 2, !running.hasEnded { usleep(20_000) }
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
