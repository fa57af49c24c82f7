import HTTPServer
import TransferModel
import TransferReports
import Transfers

/// Answers the requests of `serve`: the guard authorizes, the route selects the command, the command runs.
final class ServeDesk: Sendable {
  private let guards: ServeGuard
  private let base: ServeTerms
  private let context: Context
  private let path: String
  /// Used only to detect changes.
  private let ledger: OpenStore
  private let pages: ServePages

  init(_ guards: ServeGuard, base: ServeTerms, _ context: Context, ledger: OpenStore) {
    (self.guards, self.base, self.context, self.ledger) = (guards, base, context, ledger)
    (path, pages) = (ledger.path, ServePages(context.clock))
  }

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    var response = decided(request)
    response.closes = Self.endsConnection(ServeRoute(request.path), status: response.status)
    response.trusts = guards.sessions.knows(request)
    let fields = [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
      ("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Content-Security-Policy", HTMLLive.policy),
    ]
    response.fields += fields.map { HTTPRequest.Field($0.0, $0.1) }
    return response
  }

  /// A client that has not shown the token keeps no connection: their number is limited.
  private static func endsConnection(_ route: ServeRoute?, status: Int) -> Bool {
    guard let route, route != .health else { return true }
    return [401, 403, 405, 421].contains(status)
  }

  private func decided(_ request: HTTPRequest) -> HTTPResponse {
    guard let route = ServeRoute(request.path) else {
      do throws(ServeGuard.Refusal) { try guards.check(request, .health) } catch {
        return refused(error, isPage: false)
      }
      return failed(404, "not_found", "no such page; see transfers help serve", isPage: false)
    }
    do throws(ServeGuard.Refusal) { try guards.check(request, route) } catch {
      var response = refused(error, isPage: route.isPage && request.method == "GET")
      // Source: RFC 9110 section 15.5.6.
      if error.status == 405 { response.fields.append(.init("Allow", route.methods.joined(separator: ", "))) }
      return response
    }
    do throws(CommandFailure) { return try done(route, request) } catch {
      return failed(error, isPage: route.isPage)
    }
  }

  private func done(_ route: ServeRoute, _ request: HTTPRequest) throws(CommandFailure) -> HTTPResponse {
    switch route {
    case .health: return HTTPResponse(200, text: "ok")
    case .session: return session(request)
    case .metrics:
      let words = ["report", "summary", "--format=prometheus"] + base.words
      return kept(try page(request, "metrics", words, nil), request, type: "text/plain; version=0.0.4; charset=utf-8")
    case .view(let kind, let id): return try view(kind, id, request)
    case .page(let words): return try page(words, request)
    case .viewDocument(let kind):
      let terms = try ServeTerms(request.query).within(base)
      return try document(["--view=\(kind.rawValue)"], terms, request, as: ServeView.self)
    case .document(let words):
      let hasRows = ["show", "why", "store"].contains(words[0])
      var terms = try ServeTerms(request.query)
      if !hasRows { terms = terms.within(base) }
      if words[0] == "list" || ["files", "attempts"].contains(words.last), !terms.has("limit") {
        terms.add("limit", "1000")
      }
      return try document(words, terms, request, as: nil)
    case .verb(let verb): return try changed(verb, request)
    }
  }

  // MARK: - Entering

  private func session(_ request: HTTPRequest) -> HTTPResponse {
    let token = HTTPRequest.terms(request.body)?.first { $0.name == "token" }?.value.bytes ?? []
    guard let cookie = guards.sessions.open(token) else {
      return html(401, HTMLLive.entry("This is not the token of this server. It prints a new one at each start."))
    }
    return HTTPResponse(303, fields: [.init("Location", "/"), .init("Set-Cookie", cookie)])
  }

  // MARK: - Looking

  private func view(
    _ kind: ServeView.Kind, _ id: String?, _ request: HTTPRequest
  ) throws(CommandFailure) -> HTTPResponse {
    var terms = try ServeTerms(request.query)
    if id == nil { terms = terms.within(base) }
    return try page(
      request, ["--view=\(kind.rawValue)"] + (id.map { [$0] } ?? []) + terms.words + ["--format=html"], ServeView.self)
  }

  private func page(_ words: [String], _ request: HTTPRequest) throws(CommandFailure) -> HTTPResponse {
    let rows = request.query.filter { $0.name != "page" }
    let terms = try ServeTerms(rows).within(base)
    let links = HTMLPageLinks(rowsPerPage: ServedPage.rows) { number in
      let query = rows.map { "\($0.name)=\(HTMLText.percentEncoded($0.value.bytes))" } + ["page=\(number)"]
      return "?" + query.joined(separator: "&")
    }
    let served = ServedPage(number: try Self.pageNumber(request), links: links)
    return try page(request, words + terms.words + ["--format=html"], nil, served)
  }

  /// The parameter `page`; without it the first page.
  private static func pageNumber(_ request: HTTPRequest) throws(CommandFailure) -> Int {
    let values = request.query.filter { $0.name == "page" }.map(\.value.description)
    guard let value = values.last else { return 1 }
    guard values.count == 1, let number = Int(value), (1...1_000_000).contains(number) else {
      throw .usage("page is a number from 1", remedy: "page=2")
    }
    return number
  }

  private func page(
    _ request: HTTPRequest, _ words: [String], _ type: ServeView.Type?, _ served: ServedPage? = nil
  ) throws(CommandFailure) -> HTTPResponse {
    let name = (words + (served.map { ["page \($0.number)"] } ?? [])).joined(separator: "\u{0}")
    return kept(try page(request, name, words, type, served), request, type: "text/html; charset=utf-8")
  }

  private func page(
    _ request: HTTPRequest, _ name: String, _ words: [String], _ type: ServeView.Type?, _ served: ServedPage? = nil
  ) throws(CommandFailure) -> ServePages.Page {
    let mark = try failing { () throws(TransferError) in
      ServeRoute(request.path)?.showsBytesInFlight == true
        ? try ledger.liveMark(context.clock) : try ledger.changeMark()
    }
    return try pages.page(name, mark) { tag throws(CommandFailure) in
      let live = HTMLLive(
        links: Self.links, path: "/" + request.path.joined(separator: "/"), mayControl: guards.mayControl, tag: tag)
      return try InnerCommand(context: context, store: path).run(words, as: type, live: live, page: served)
    }
  }

  private static let links = [
    HTMLLive.Link("Overview", "/"), .init("Files", "/files"), .init("Batches", "/batches"),
    .init("Failures", "/report/failures"), .init("Slow", "/report/slow"), .init("Hosts", "/report/hosts"),
    .init("Throughput", "/report/throughput"), .init("History", "/history"),
  ]

  private func document(
    _ words: [String], _ terms: ServeTerms, _ request: HTTPRequest, as type: ServeView.Type?
  ) throws(CommandFailure) -> HTTPResponse {
    let format = OutputFormat(rawValue: terms["format"] ?? "json") ?? .json
    guard format != .html, format != .table else {
      throw .usage("documents come as json, ndjson, csv, tsv, markdown or prometheus")
    }
    let all = words + terms.words + (terms.has("format") ? [] : ["--json"])
    let kind: String =
      switch format {
      case .json: "application/json"
      case .ndjson: "application/x-ndjson"
      case .csv: "text/csv; charset=utf-8"
      default: "text/plain; charset=utf-8"
      }
    return kept(try page(request, all.joined(separator: "\u{0}"), all, type), request, type: kind)
  }

  private func kept(_ page: ServePages.Page, _ request: HTTPRequest, type: String) -> HTTPResponse {
    let tag = HTTPRequest.Field("ETag", page.tag)
    if request["if-none-match"] == page.tag { return HTTPResponse(304, fields: [tag]) }
    return HTTPResponse(200, fields: [.init("Content-Type", type), tag], body: page.body)
  }

  // MARK: - Changing

  /// The command of the same name, with a selection from the body.
  private func changed(_ verb: ServeVerb, _ request: HTTPRequest) throws(CommandFailure) -> HTTPResponse {
    let said = try ServeTerms(try ServeBody.terms(request.body))
    // The selection that the server was started with is no choice of rows; as a command, clean needs none.
    guard said.isSelection || verb == .clean else {
      throw .usage("\(verb.rawValue) needs to know which files", remedy: "{\"id\": [\"f1\"]}, or {\"all\": true}")
    }
    let terms = try said.confined(to: base)
    defer { pages.forget() }
    let body = try InnerCommand(context: context, store: path).run([verb.rawValue] + terms.words + ["--json"])
    return HTTPResponse(200, fields: [.init("Content-Type", "application/json")], body: body)
  }

  // MARK: - Refusing

  private func refused(_ refusal: ServeGuard.Refusal, isPage: Bool) -> HTTPResponse {
    if refusal.status == 401, isPage {
      return html(401, HTMLLive.entry("This page needs the token that transfers serve printed when it was started."))
    }
    var response = failed(refusal.status, refusal.code, refusal.text, isPage: false)
    if refusal.status == 401 { response.fields.append(.init("WWW-Authenticate", "Bearer")) }
    return response
  }

  private func failed(_ failure: CommandFailure, isPage: Bool) -> HTTPResponse {
    let status =
      switch failure.status {
      case .usage: failure.isAboutMissingRow ? 404 : 400
      case .store, .locked: 503
      default: 500
      }
    return failed(status, failure.code, failure.text, failure.remedy, isPage: isPage)
  }

  private func failed(
    _ status: Int, _ code: String, _ text: String, _ remedy: String = "", isPage: Bool
  ) -> HTTPResponse {
    if isPage {
      let words = text + (remedy.isEmpty ? "" : ". Try: " + remedy)
      let report = Report("transfers.error", [ReportSection(nil, nil, .words(words))])
      let live = HTMLLive(links: Self.links, path: "", mayControl: guards.mayControl, tag: "")
      let header = ReportHeader(store: StoreIdentity(path: path), generatedMs: context.clock.wallMs)
      return html(status, HTMLReport.render(report, header, live: live))
    }
    let record = FigureObject([
      ("error", .text(code)), ("message", .text(text)), ("remedy", .text(remedy)), ("status", .integer(Int64(status))),
    ])
    return HTTPResponse(
      status, fields: [.init("Content-Type", "application/json")], body: JSONWriter.bytes(FigureTree(record)) + [0x0A])
  }

  private func html(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(status, fields: [.init("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
  }
}
