import HTTPServer
import Testing
import TransferModel

@testable import TransfersCLI

@Suite struct ServeGuardTests {
  private let sessions = ServeSessions(token: "right-token", port: 8787)

  private func status(
    _ method: String, _ route: ServeRoute, _ fields: [String: String], isLocal: Bool = true, control: Bool = true
  ) -> Int {
    let guards = ServeGuard(
      hostNames: ["transfers.example"], isLocal: isLocal, mayControl: control, sessions: sessions)
    let request = HTTPRequest(method: method, path: [], fields: fields.map { HTTPRequest.Field($0.key, $0.value) })
    do throws(ServeGuard.Refusal) { try guards.check(request, route) } catch { return error.status }
    return 200
  }

  private let page = ServeRoute.view(.now, id: nil)
  private let verb = ServeRoute.verb(.pause)
  private let known = ["host": "127.0.0.1:8787", "authorization": "Bearer right-token"]
  private var asking: [String: String] {
    known.merging(["content-type": "application/json", "origin": "http://127.0.0.1:8787"]) { $1 }
  }

  @Test(arguments: [
    ("127.0.0.1:8787", 200), ("127.0.0.1", 200), ("localhost:9999", 200), ("LOCALHOST", 200), ("[::1]:8787", 200),
    ("transfers.example", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421),
    ("localhost.evil.example:8787", 421), ("192.0.2.1:8787", 421), ("[::1.evil", 421), ("transfers.example.", 421),
  ])
  func onlyOwnHostsAreServed(_ host: String, _ expected: Int) {
    #expect(status("GET", page, known.merging(["host": host]) { $1 }) == expected)
    #expect(status("GET", .health, ["host": host]) == expected)
  }

  @Test func anAddressIsAHostForOtherMachines() {
    #expect(status("GET", page, known.merging(["host": "192.0.2.1:8787"]) { $1 }, isLocal: false) == 200)
    #expect(status("GET", page, known.merging(["host": "evil.example"]) { $1 }, isLocal: false) == 421)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8787", 200), ("https://127.0.0.1:8787", 200), ("http://127.0.0.1:8788", 403),
    ("http://localhost:8787", 403), ("http://evil.example", 403), ("null", 403), ("", 403),
    ("http://127.0.0.1:8787.evil.example", 403),
  ])
  func onlyOwnPagesAsk(_ origin: String, _ expected: Int) {
    #expect(status("POST", verb, asking.merging(["origin": origin]) { $1 }) == expected)
    #expect(status("GET", .document(["status"]), known.merging(["origin": origin]) { $1 }) == expected)
  }

  @Test func fetchMetadataNamesForeignPages() {
    for site in ["cross-site", "same-site"] {
      let foreign = ["sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"]
      #expect(status("GET", .document(["status"]), known.merging(foreign) { $1 }) == 403)
      #expect(status("POST", verb, asking.merging(foreign) { $1 }) == 403)
      let link = ["sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"]
      #expect(status("GET", page, known.merging(link) { $1 }) == 200, "a link to this page is allowed")
      #expect(status("GET", .document(["status"]), known.merging(link) { $1 }) == 403)
      let frame = ["sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"]
      #expect(status("GET", page, known.merging(frame) { $1 }) == 403)
    }
    #expect(status("POST", verb, asking.merging(["sec-fetch-site": "same-origin"]) { $1 }) == 200)
  }

  @Test func aTokenIsNeeded() {
    #expect(status("GET", page, ["host": "localhost"]) == 401)
    for wrong in ["Bearer wrong-token", "Bearer right-token2", "Bearer right-toke", "Bearer", "Basic right-token", ""] {
      #expect(status("GET", page, ["host": "localhost", "authorization": wrong]) == 401, "\(wrong)")
    }
    #expect(status("GET", page, ["host": "localhost", "authorization": "bearer right-token"]) == 200)
    #expect(status("GET", .health, ["host": "localhost"]) == 200)
  }

  @Test func aCookieIsOfThisServer() throws {
    #expect(sessions.open("wrong".utf8) == nil)
    let field = try #require(sessions.open("right-token".utf8))
    #expect(field.hasSuffix("; Path=/; HttpOnly; SameSite=Strict") && !field.contains("right-token"))
    let cookie = String(field.prefix { $0 != ";" })
    #expect(status("GET", page, ["host": "localhost", "cookie": cookie]) == 200)
    #expect(status("GET", page, ["host": "localhost", "cookie": "a=b; \(cookie); c=d"]) == 200)
    for wrong in ["transfers-8787=", "x\(cookie)", "\(cookie)0", cookie.replacing("8787", with: "1")] {
      #expect(status("GET", page, ["host": "localhost", "cookie": wrong]) == 401, "\(wrong)")
    }
    let other = ServeSessions(token: "right-token", port: 8787)
    #expect(!other.knows(HTTPRequest(method: "GET", path: [], fields: [.init("cookie", cookie)])), "a stale cookie")
  }

  @Test func nothingThatIsFetchedChangesAnything() {
    for verb in ServeVerb.allCases {
      for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
        #expect(status(method, .verb(verb), asking) == 405)
      }
      #expect(status("POST", .verb(verb), asking) == 200)
      #expect(status("POST", .verb(verb), asking, control: false) == 403)
      for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        #expect(status("POST", .verb(verb), asking.merging(["content-type": type]) { $1 }) == 415)
      }
    }
    #expect(status("POST", page, asking) == 405)
  }
}

@Suite struct ServeRouteTests {
  @Test func pathsAreCommands() {
    #expect(ServeRoute([]) == .view(.overview, id: nil))
    #expect(ServeRoute(["files", "f12"]) == .view(.file, id: "f12"))
    #expect(ServeRoute(["api", "v1", "files"]) == .document(["list", "files"]))
    #expect(ServeRoute(["api", "v1", "why", "b3"]) == .document(["why", "b3"]))
    #expect(ServeRoute(["api", "v1", "report", "hosts"]) == .document(["report", "hosts"]))
    #expect(ServeRoute(["api", "v1", "clean"]) == .verb(.clean))
  }

  @Test(arguments: [
    ["nothing"], ["files", "b1"], ["files", "-"], ["files", "--store=x"], ["files", "f1", "x"], ["report", "trace"],
    ["report", "otlp"], ["report", "--help"], ["api"], ["api", "v1"], ["api", "v2", "files"],
    ["api", "v1", "show", "-"], ["api", "v1", "show", "F1"], ["api", "v1", "run"], ["api", "v1", "store", "sql"],
    ["api", "v1", "set"], ["etc", "passwd"],
  ])
  func otherPathsAreNothing(_ path: [String]) { #expect(ServeRoute(path) == nil) }

  private func words(_ query: String, base: String = "") throws -> [String] {
    let terms = try ServeTerms(#require(HTTPRequest.terms(query.utf8)))
    return terms.within(try ServeTerms(#require(HTTPRequest.terms(base.utf8)))).words
  }

  @Test func termsAreOptionsAndNothingElse() throws {
    #expect(try words("id=f1,f2&state=failed&hidden") == ["f1", "f2", "--state=failed", "--hidden"])
    #expect(try words("path=--store%3D/etc/passwd") == ["--path=--store=/etc/passwd"])
    for bad in [
      "store=/x", "output=/x", "id=-", "id=--all", "id=f1%20f2", "state=", "hidden=no", "endpoint=x", "o=x", "=x",
      "all=false",
    ] {
      #expect(throws: CommandFailure.self, "\(bad)") { try words(bad) }
    }
  }

  @Test func theSelectionOfTheServerIsKept() throws {
    #expect(try words("state=failed", base: "batch=nightly") == ["--state=failed", "--batch=nightly"])
    #expect(try words("batch=b1", base: "batch=nightly&since=24h") == ["--batch=b1", "--since=24h"])
    #expect(try words("all", base: "batch=nightly") == ["--batch=nightly"], "all within the selection of the server")
    #expect(try words("all", base: "") == ["--all"])
    #expect(try words("id=f1", base: "id=b2") == ["f1"])
    #expect(try words("batch=b1", base: "last") == ["--batch=b1"], "replaces the last one")
    #expect(try words("state=failed", base: "last") == ["--state=failed", "--last"])
  }

  @Test func verbsStayWithinTheSelectionOfTheServer() throws {
    func words(_ query: String, _ base: String) throws -> [String] {
      let terms = try ServeTerms(#require(HTTPRequest.terms(query.utf8)))
      return try terms.confined(to: try ServeTerms(#require(HTTPRequest.terms(base.utf8)))).words
    }
    #expect(try words("id=f1", "state=paused") == ["f1", "--state=paused"])
    #expect(try words("id=f1", "id=b2") == ["f1", "--batch=b2"])
    #expect(try words("id=f1", "id=b2-b4,b7") == ["f1", "--batch=b2", "--batch=b3", "--batch=b4", "--batch=b7"])
    #expect(try words("id=b2", "id=b2,b3") == ["b2"])
    #expect(try words("batch=b1", "id=b3") == ["b3", "--batch=b1"], "what is in both, and so nothing")
    #expect(try words("state=paused", "state=paused") == ["--state=paused"])
    #expect(try words("all", "batch=nightly") == ["--batch=nightly"])
    #expect(try words("state=failed", "") == ["--state=failed"])
    #expect(try words("batch=b1", "last") == ["--batch=b1", "--last"], "refused if it is not the last one")
    for (query, base) in [
      ("state=failed", "state=paused"), ("batch=b1", "batch=b2"), ("id=f1", "id=f2"),
      ("id=f1&batch=b1", "id=b3"), ("id=f1", "id=b3-b1"), ("id=f1", "id=b1-b5000"), ("id=f1", "id=b1-f2"),
    ] {
      #expect(throws: CommandFailure.self, "\(query)") { try words(query, base) }
    }
  }

  /// Each option of a selection that the server was started with restricts its requests, too.
  @Test func noOptionOfTheServerIsForgotten() throws {
    var all = Selection(
      ids: ["f1"], batches: ["b"], jobs: ["nightly"], destinations: ["d"], hosts: ["h"], labels: ["l"],
      paths: [NameBytes("p")], states: ["failed"], errors: ["http.400"], since: "1h", until: "1s")
    all.facts = FileTerms(
      direction: .up, minSize: SizeBound(argument: "1"), maxSize: SizeBound(argument: "2"),
      slowerThan: SpanBound(argument: "1s"), attempts: CountBound(argument: "3"), unverified: true)
    (all.all, all.last, all.hidden) = (true, true, true)
    for (said, unsaid) in [
      (Mirror(reflecting: all), Mirror(reflecting: Selection())),
      (Mirror(reflecting: all.facts), Mirror(reflecting: FileTerms())),
    ] {
      for (one, none) in zip(said.children, unsaid.children) {
        #expect("\(one.value)" != "\(none.value)", "\(one.label ?? "") is not in this test")
      }
    }
    let names = Set(all.terms.map(\.name))
    for option in all.narrowing + ["--all", "--hidden"] {
      #expect(names.contains(option == "IDs" ? "id" : String(option.dropFirst(2))), "\(option)")
    }
    #expect(try ServeTerms(all.terms).words.contains("--job=nightly"))
  }

  @Test func aBodyHasTheSameTerms() throws {
    let terms = try ServeBody.terms(Array(#"{"id": ["f1", "f2"], "now": true, "batch": "x", "hidden": false}"#.utf8))
    #expect(try ServeTerms(terms).words == ["f1", "f2", "--batch=x", "--now"])
    for bad in [
      "", "[]", "1", #"{"id": 1}"#, #"{"id": {}}"#, #"{"id": null}"#, "{", "{}x",
      #"{"id": []}"#, #"{"batch": [], "all": true}"#, #"{"id": ["f1"], "id": ["f14"]}"#,
      #"{"id": "f1", "i\u0064": "f2"}"#, #"{"now": true, "id": "f1", "now": false}"#,
    ] {
      #expect(throws: CommandFailure.self, "\(bad)") { try ServeBody.terms(Array(bad.utf8)) }
    }
    for good in [#"{"path": "a:b\\\":{"}"#, #"{"path": ["a:b", "c:d"], "state": "failed"}"#, "{}"] {
      #expect(throws: Never.self, "\(good)") { try ServeBody.terms(Array(good.utf8)) }
    }
  }

  /// A program that sends the rows that somebody chose may send none of them.
  @Test(arguments: ["id=", "id=,", "id=f1,", "batch=b2&id="])
  func noIDsAreNotAllOfThem(_ query: String) throws {
    let terms = try #require(HTTPRequest.terms(query.utf8))
    #expect(throws: CommandFailure.self) { try ServeTerms(terms) }
  }
}
