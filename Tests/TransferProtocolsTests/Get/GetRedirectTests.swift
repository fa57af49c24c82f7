import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Which redirects are followed, and which are not.
@Suite struct GetRedirectTests {
  private let proto: GetProtocol
  private var facts: TransferFacts
  private let credential = Credential.bearer(token: "secret-token")

  init() throws {
    let settings = BatchSettings(destination: "https://h/", download: DownloadSettings(folder: NameBytes("/in")))
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 0, mtimeMs: 0)
    facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
  }

  private func context(_ sent: Route? = nil) -> RequestContext {
    var context = RequestContext(wallMs: 0, credential: credential, learned: LearnedFacts())
    context.routeWhenSent = sent ?? facts.route
    return context
  }

  /// Gives this answer to the next request, and returns what is done about it.
  private mutating func answer(_ status: Int, _ location: String? = nil, sent: Route? = nil) -> (
    Failure, FailureAction
  )? {
    var reply = TransferReply()
    reply.status = status
    reply.fields[.location] = location
    let update = facts.apply(proto.interpret(reply, to: .create, facts, context(sent)), to: .create, proto.abilities)
    if case .fail(let failure, let action)? = update.changes.first { return (failure, action) }
    return nil
  }

  private func request() throws -> TransferRequest { try proto.request(.create, facts, context()) }

  @Test(arguments: [301, 302, 303, 307, 308]) mutating func theFileIsAskedForThere(_ status: Int) throws {
    #expect(answer(status, "/b?x=1#part")?.1 == .elsewhere)
    #expect(try request().url == "https://h/b?x=1")
    #expect(try request().fields[.authorization] == "Bearer secret-token")
    #expect(try request().method == .get && request().fields[.range] != nil)
  }

  /// A Location is relative to the URL as it was sent, and the same URL again is a loop.
  @Test mutating func theURLIsNotEncodedAgain() throws {
    facts.file.key = NameBytes("d%20e/a?x=/y")
    #expect(answer(302, "https://h/d%20e/a?x=/y")?.1 == .permanent)
    #expect(answer(302, "b")?.1 == .elsewhere)
    #expect(try request().url == "https://h/d%20e/b")
  }

  @Test(arguments: ["https://cdn/b", "https://h:8443/b", "https://H.:443/b"])
  mutating func credentialsStayAtTheirOrigin(_ url: String) throws {
    #expect(answer(302, url)?.1 == .elsewhere)
    #expect(try request().url == url)
    #expect(try request().fields[.authorization] == nil)
    #expect(try request().addresses == .public(unlessOf: "https://h"))
    // That origin would choose what our credentials fetch, even after a further redirect of our server.
    #expect(answer(302, "https://h/c")?.1 == .elsewhere)
    #expect(try request().url == "https://h/c")
    #expect(try request().fields[.authorization] == nil)
    #expect(answer(302, "d")?.1 == .elsewhere)
    #expect(try request().fields[.authorization] == nil)
    // From the start on they are sent again.
    #expect(answer(403)?.1 == .elsewhere)
    #expect(try request().url == "https://h/a")
    #expect(try request().fields[.authorization] != nil)
  }

  @Test(arguments: [
    "http://h/a", "http://cdn/a", "ftp://h/a", "file:///etc/passwd", "https://u:p@h/a", "https://h/a b", "https:///a",
    "https://h/a",
  ])
  mutating func thereNobodyGoes(_ url: String) throws {
    let result = answer(302, url)
    #expect(result?.0.code == .httpRedirect && result?.1 == .permanent)
    #expect(result?.0.message.contains("p@") == false)
    #expect(facts.route == Route())
  }

  @Test mutating func aRedirectWithoutAPlaceIsABadReply() {
    #expect(answer(302)?.0.code == .protoBadReply)
    #expect(answer(304, "/b")?.1 == .permanent)
  }

  @Test mutating func circlesEnd() {
    #expect(answer(302, "/b")?.1 == .elsewhere)
    #expect(answer(302, "/c")?.1 == .elsewhere)
    var (copy, other) = (self, self)
    for url in ["/a", "/b", "/c"] {
      var round = self
      #expect(round.answer(302, url)?.0.message.contains("loop") == true, "\(url)")
    }
    #expect(copy.answer(302, "/d")?.1 == .elsewhere && other.answer(302, "/e")?.1 == .elsewhere)
  }

  @Test mutating func longWaysEnd() {
    for n in 0..<WebSource.mostRedirects { #expect(answer(302, "/n\(n)")?.1 == .elsewhere) }
    let last = answer(302, "/n")
    #expect(last?.0.code == .httpRedirect && last?.1 == .permanent)
  }

  /// A signed URL has expired: the server that issued it is asked for another one, once.
  @Test(arguments: [400, 401, 403, 404, 410]) mutating func aPlaceThatRefusesIsLeftOnce(_ status: Int) throws {
    #expect(answer(302, "https://cdn/b?X-Amz-Signature=1")?.1 == .elsewhere)
    let sent = facts.route
    #expect(answer(status)?.1 == .elsewhere)
    #expect(try request().url == "https://h/a")
    // The refusal of a concurrent request adds nothing.
    #expect(answer(status, sent: sent)?.1 == .elsewhere)
    #expect(answer(302, "/new", sent: sent)?.1 == .elsewhere)
    #expect(try request().url == "https://h/a")
    #expect(answer(302, "https://cdn/b?X-Amz-Signature=2")?.1 == .elsewhere)
    let end = answer(status)
    #expect(end?.1 == ([401, 403].contains(status) ? .retry(isThrottled: false) : .permanent))
    #expect(end?.0.code != .authRefused)
    #expect(try request().url == "https://h/a")
  }

  @Test mutating func withContentTheWayBeginsAnew() {
    _ = answer(302, "https://cdn/b")
    _ = answer(403)
    _ = answer(302, "https://cdn/c")
    facts.route.arrived()
    #expect(answer(403)?.1 == .elsewhere)
  }

  /// A URL from a command is requested instead of that of the file, without our credentials.
  @Test mutating func theWayMayBeginElsewhere() throws {
    #expect(facts.route.needsStart(wallMs: 0))
    facts.route.begin(at: "https://h/b?sig=1")
    #expect(!facts.route.needsStart(wallMs: 0))
    #expect(try request().url == "https://h/b?sig=1")
    #expect(try request().fields[.authorization] == nil && request().addresses == .any)
    #expect(answer(302, "https://h/b?sig=1")?.0.message.contains("loop") == true)
    #expect(answer(302, "https://cdn/c")?.1 == .elsewhere)
    #expect(try request().addresses == .public(unlessOf: "https://h"))
    #expect(answer(403)?.1 == .elsewhere)
    #expect(facts.route.needsStart(wallMs: 0))
    facts.route.begin(at: "https://h/b?sig=2")
    #expect(answer(403)?.1 == .retry(isThrottled: false))
    #expect(Set(facts.capabilities(nil)) == ["https://h/b?sig=1", "https://cdn/c", "https://h/b?sig=2"])
  }

  @Test mutating func placesAreSecrets() {
    _ = answer(302, "https://cdn/b?X-Amz-Signature=1")
    _ = answer(302, "https://cdn/c?token=2")
    _ = answer(403)
    #expect(facts.route.url == nil)
    #expect(Set(facts.capabilities(nil)) == ["https://cdn/b?X-Amz-Signature=1", "https://cdn/c?token=2"])
  }
}
