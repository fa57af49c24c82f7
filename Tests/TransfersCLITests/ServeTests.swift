import Glibc
import HTTPServer
import Testing
import TransferModel

/// `serve` in the built program, as a browser or another client sees it.
@Suite struct ServeTests {
  struct Serving {
    let running: BuiltProgram.Running
    let port: UInt16
    let token: String

    /// Status and body.
    func ask(
      _ method: String, _ target: String, _ fields: [String] = [], body: String = "", token: String? = nil
    ) throws -> (status: Int, head: String, body: String) {
      let lines =
        ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Authorization: Bearer \(token ?? self.token)"]
        + fields + ["Content-Length: \(body.utf8.count)", "Connection: close", "", body]
      let said = try spoken(to: port, lines.joined(separator: "\r\n"))
      let parts = said.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        Int(said.prefix(12).suffix(3)) ?? 0, String(parts[0]), parts.count > 1 ? String(parts[1]) : ""
      )
    }

    func post(_ verb: String, _ body: String) throws -> (status: Int, head: String, body: String) {
      try ask("POST", "/api/v1/\(verb)", ["Content-Type: application/json"], body: body)
    }
  }

  static func serve(_ program: BuiltProgram, _ arguments: [String]) throws -> Serving {
    let running = try program.start(["serve", "--listen", "127.0.0.1:0"] + arguments)
    try running.waitUntilSaid("Ctrl-C ends it")
    let url = try readText(program.folder.path + "/stdout-0")
    let parts = url.dropLast().split(separator: "/#token=")
    let port = try #require(parts.first?.split(separator: ":").last.flatMap { UInt16($0) }, "\(url)")
    return Serving(running: running, port: port, token: String(try #require(parts.last)))
  }

  @Test func itShowsAndChangesTheLedger() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let serving = try Self.serve(program, ["--control", "--store", ledger])
    let page = try serving.ask("GET", "/")
    #expect(page.status == 200 && page.body.contains("section-now") && page.body.contains("/data/a.bin"))
    #expect(page.head.contains("Content-Security-Policy: default-src 'none'") && page.head.contains("no-store"))
    for path in ["/now", "/files", "/batches", "/attempts", "/history", "/files/f1", "/batches/b1", "/report/slow"] {
      #expect(try serving.ask("GET", path).status == 200, "\(path)")
    }
    let pausing = try serving.post("pause", #"{"id": ["f5"]}"#)
    #expect(pausing.status == 200 && pausing.body.contains("\"changed\":1"), "\(pausing)")
    #expect(try program.run("list", "files", "f5", "--json", "--store", ledger).out.contains(#""state":"paused""#))
    #expect(try serving.ask("GET", "/api/v1/files?id=f5").body.contains(#""state":"paused""#))
    #expect(try serving.post("resume", #"{"all": true}"#).body.contains("\"changed\":1"))
    #expect(try serving.post("pause", "{}").status == 400, "selecting everything requires all")
    serving.running.signal(SIGTERM)
    let end = try serving.running.wait()
    #expect(end.code == 0 && end.signal == 0, "\(end)")
  }

  /// Only `all` means everything that the server was started for.
  @Test func anEmptySelectionChangesNothing() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let serving = try Self.serve(program, ["--control", "--state", "pending", "--store", ledger])
    for verb in ["pause", "resume", "retry", "cancel", "rm", "clean"] {
      let bodies = [#"{"id": []}"#, #"{"id": ""}"#, #"{"id": ["f5"], "id": ["f6"]}"#]
      // As a command, clean without a selection is about everything that is finished.
      for body in bodies + (verb == "clean" ? [] : ["{}", #"{"all": false}"#, #"{"hidden": true}"#]) {
        let answer = try serving.post(verb, body)
        #expect(answer.status == 400, "\(verb) \(body): \(answer)")
      }
    }
    #expect(try serving.post("pause", #"{"all": true}"#).body.contains("\"changed\":1"))
    serving.running.signal(SIGTERM)
    #expect(try serving.running.wait().code == 0)
  }

  @Test func documentsAreThoseOfTheCommands() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let serving = try Self.serve(program, ["--store", ledger])
    func withoutTime(_ text: String) -> String {
      text.replacing(/"generated_at":"[^"]*"/, with: "").replacing(/"bytes":[0-9]+/, with: "")
    }
    for (path, words) in [
      ("files?state=failed", ["list", "files", "--state", "failed"]), ("show/f1", ["show", "f1"]),
      ("why/f1", ["why", "f1"]), ("report/failures", ["report", "failures"]), ("report/hosts", ["report", "hosts"]),
      ("report/latency?by=host", ["report", "latency", "--by", "host"]), ("events", ["list", "events"]),
    ] {
      let said = try program.run((words + ["--json", "--store", ledger]).map { Array($0.utf8) })
      #expect(withoutTime(try serving.ask("GET", "/api/v1/" + path).body) == withoutTime(said.out), "\(path)")
    }
    let table = try program.run("report", "files", "--format", "csv", "--store", ledger).out
    #expect(try serving.ask("GET", "/api/v1/report/files?format=csv").body == table)
    #expect(try serving.ask("GET", "/metrics").body.contains("# TYPE "))
    serving.running.signal(SIGTERM)
    #expect(try serving.running.wait().code == 0)
  }

  @Test func whatIsNotAllowedChangesNothing() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let serving = try Self.serve(program, ["--store", ledger])
    #expect(try serving.post("pause", #"{"all": true}"#).status == 403, "read-only")
    #expect(try serving.ask("GET", "/api/v1/pause?all").status == 405)
    #expect(try serving.ask("GET", "/", token: "").status == 401)
    #expect(try serving.ask("GET", "/api/v1/files", token: String(repeating: "0", count: 64)).status == 401)
    #expect(try serving.ask("GET", "/api/v1/files", ["Origin: http://evil.example"]).status == 403)
    #expect(try serving.ask("GET", "/files/f999").status == 404)
    #expect(try serving.ask("GET", "/../../etc/passwd").status == 400)
    #expect(try serving.ask("GET", "/etc/passwd").status == 404)
    for bad in ["store=/etc/passwd", "state=nothing", "since=never", "path=", "id=-", "limit=0", "columns=x", "a=%zz"] {
      #expect(try serving.ask("GET", "/api/v1/files?\(bad)").status == 400, "\(bad)")
    }
    #expect(try serving.ask("GET", "/api/v1/files?path=%27%25%22*").status == 200, "quotes are valid in names")
    let health = try spoken(to: serving.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", ends: true)
    #expect(health.hasSuffix("\r\n\r\nok\n"))
    let forged = try spoken(to: serving.port, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", ends: true)
    #expect(forged.hasPrefix("HTTP/1.1 421 "))
    let foreign = try spoken(to: serving.port, "GET /files HTTP/1.1\r\nHost: localhost\r\n\r\n", ends: true)
    for head in [health, forged, foreign] { #expect(head.contains("\r\nConnection: close\r\n"), "\(head)") }
    #expect(try program.run("list", "files", "f5", "--json", "--store", ledger).out.contains(#""state":"pending""#))
    serving.running.signal(SIGTERM)
    #expect(try serving.running.wait().code == 0)
  }

  @Test func anUnchangedPageIsNotSentAgain() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let serving = try Self.serve(program, ["--control", "--store", ledger])
    func tag(_ head: String) throws -> String {
      try String(#require(head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }).dropFirst(6))
    }
    let known = try tag(serving.ask("GET", "/now").head)
    let again = try serving.ask("GET", "/now", ["If-None-Match: \(known)"])
    #expect(again.status == 304 && again.body.isEmpty)
    #expect(try program.run("pause", "f5", "--store", ledger).code == 0)
    // To limit the cost, a page that took long to render may be served unchanged for a while.
    var changed = again
    let clock = ContinuousClock()
    let until = clock.now + .seconds(60)
    while changed.status == 304, clock.now < until {
      usleep(20_000)
      changed = try serving.ask("GET", "/now", ["If-None-Match: \(known)"])
    }
    #expect(changed.status == 200 && changed.body.contains("paused"))
    serving.running.signal(SIGINT)
    #expect(try serving.running.wait().code == 0)
  }

  @Test func itRefusesToBeReachedByOthers() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let file = program.folder.path + "/token"
    try writeFile(file, Array(String(repeating: "t", count: 40).utf8))
    func refused(_ arguments: String...) throws -> (Int32, String) {
      let end = try program.run((["serve", "--store", ledger] + arguments).map { Array($0.utf8) })
      return (end.code, end.err)
    }
    #expect(try refused("--listen", "0.0.0.0:0").0 == 64)
    #expect(try refused("--listen", "0.0.0.0:0", "--allow-remote").0 == 64)
    chmod(file, 0o640)
    let (code, text) = try refused("--listen", "0.0.0.0:0", "--allow-remote", "--token-file", file)
    #expect(code == 78 && text.contains("others may read"), "\(text)")
    chmod(file, 0o600)
    try writeFile(file, Array("short".utf8))
    #expect(try refused("--token-file", file).0 == 78)
    #expect(try refused("--token-file", program.folder.path).0 == 78)
    #expect(try refused("--listen", "localhost").0 == 64)
    #expect(try refused("-o", "/tmp/x").0 == 64)
    #expect(try refused("f99").0 == 64)
    #expect(try program.run("serve", "--store", program.folder.path + "/none.db").code == 7)
  }

  @Test func aTokenOfAFileIsNotPrinted() throws {
    let program = try BuiltProgram()
    let ledger = try FilledLedger(in: program.folder).path
    let file = program.folder.path + "/token"
    try writeFile(file, Array((String(repeating: "t", count: 40) + "\n").utf8))
    chmod(file, 0o600)
    let running = try program.start(
      ["serve", "--listen", "127.0.0.1:0", "--token-file", file, "--json", "--store", ledger])
    try running.waitUntilSaid("Ctrl-C ends it")
    let text = try readText(program.folder.path + "/stdout-0")
    #expect(text.contains("\"schema\":\"transfers.serve/1\"") && !text.contains("ttt"))
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
  }
}

/// The server's answer to `text` on a new connection. With `ends` the client sends nothing after it.
private func spoken(to port: UInt16, _ text: String, ends: Bool = false) throws -> String {
  let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(client) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
  let status = withUnsafeBytes(of: &address) {
    connect(client, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
  }
  guard status == 0 else { throw SystemFailure("connect") }
  let bytes = Array(text.utf8)
  guard send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw SystemFailure("send") }
  if ends { shutdown(client, Int32(SHUT_WR)) }
  var (heard, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
  while case let count = recv(client, &buffer, buffer.count, 0), count > 0 { heard += buffer[..<count] }
  return String(decoding: heard, as: UTF8.self)
}
