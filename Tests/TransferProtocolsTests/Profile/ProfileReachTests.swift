import StrictYAML
import Testing
import TransferModel

@testable import TransferProtocols

/// Where a profile may send: to the destination, to allowed hosts, and, if it is built in, to hosts that its server
/// names.
@Suite struct ProfileReachTests {
  private static func text(_ steps: String, _ top: String = "") -> String {
    "profile: 1\nname: x\n\(top)\nsteps:\n\(steps)"
  }

  private static let literal = text("  chunk: {method: PUT, url: \"https://elsewhere.test/x\", body: {kind: raw}}")
  private static let base = text(
    "  chunk: {method: PUT, url: /x, body: {kind: raw}}", "base_url: \"https://elsewhere.test/api\"")
  private static let abort = text(
    "  chunk: {method: PUT, url: /x, body: {kind: raw}}\n  abort: {method: DELETE, url: \"https://elsewhere.test/{{uuid}}\"}"
  )
  private static let refresh = text(
    "  chunk: {method: PUT, url: /x, body: {kind: raw}}",
    "auth: {refresh: {method: POST, url: \"https://elsewhere.test/t\", extract: {secret.a: {json: $.a}}}}")
  private static let poll = text(
    """
      chunk: {method: PUT, url: /x, body: {kind: raw}}
      complete: {method: POST, url: /c, poll: {while: {status: 202}, request: {method: GET, url: "https://elsewhere.test/"}}}
    """)

  private static func settings(_ text: String, _ destination: String, allowed: [String]? = nil, builtin: Bool? = nil)
    throws -> BatchSettings
  {
    let profile = try ProfileReadTests.read(text)
    var settings = BatchSettings(
      destination: destination, profile: ProfileSettings(name: "x", text: profile.text, isBuiltin: builtin))
    settings.allowedHosts = allowed
    return settings
  }

  /// Every part of a profile that can name a host is checked before anything is recorded.
  @Test(arguments: [literal, base, abort, refresh, poll]) func anotherHostHasToBeAllowed(_ text: String) throws {
    let good = "https://good.test/api"
    #expect {
      try ProfileProtocol(Self.settings(text, good))
    } throws: { error in
      guard let error = error as? TransferError else { return false }
      return error.kind == .usage && error.cause.contains("https://elsewhere.test")
        && error.remedy.contains("--allow-host elsewhere.test")
    }
    for allowed in ["elsewhere.test", "elsewhere.test:443", "*.test"] {
      let proto = try ProfileProtocol(Self.settings(text, good, allowed: [allowed]))
      #expect(proto.hosts == ["https://good.test", "https://elsewhere.test"])
    }
    for allowed in ["elsewhere.test:8443", "sub.elsewhere.test", "*.elsewhere.test", "else"] {
      #expect(throws: TransferError.self) { try ProfileProtocol(Self.settings(text, good, allowed: [allowed])) }
    }
  }

  /// Regardless of what is allowed and of who wrote the profile.
  @Test(arguments: [literal, base, abort, refresh, poll]) func nothingGoesFromTLSToPlainText(_ text: String) throws {
    let plain = text.replacing("https://else", with: "http://else")
    for builtin in [nil, true] {
      #expect(throws: TransferError.self) {
        try ProfileProtocol(
          Self.settings(plain, "https://good.test/", allowed: ["elsewhere.test"], builtin: builtin))
      }
    }
    #expect(throws: Never.self) {
      try ProfileProtocol(Self.settings(plain, "http://good.test/", allowed: ["elsewhere.test"]))
    }
  }

  @Test(arguments: ["https://h/", "h/x", "u:p@h", "", "*.", "h:0"]) func whatIsNoHostIsRefused(_ text: String) {
    #expect(throws: TransferError.self) { try AllowedHosts([text]) }
  }

  /// Hosts that are known only when the request is made are checked then: those that come from file names, inputs by
  /// reference, answers and their defaults.
  @Test(arguments: [
    "https://h{{file.size}}.test/x", "{{'https://elsewhere.test/'}}", "{{session.nothing}}",
    "https://{{session.host}}.elsewhere.test/",
  ])
  func hostsThatAreFilledInAreLookedAtWhenTheyAreKnown(_ url: String) throws {
    let text = Self.text(
      """
        init:
          method: POST
          url: /i
          extract: {session.nothing: {json: $.no, default: "https://elsewhere.test/"}, session.host: {json: $.h, default: a}}
        chunk: {method: PUT, url: "\(url)", auth: off, body: {kind: raw}}
      """)
    let driver = try ProfileDriver(profile(text, allowed: []), content: pattern(3), secrets: [:])
    let end = driver.run([.on("POST https://h.example/api/i", 200, "{}")])
    #expect(end.failureText?.contains("--allow-host") == true, "\(end)")
    #expect(driver.log.count == 1)
  }

  private static let follows = text(
    """
      init: {method: POST, url: /i, extract: {session.u: {json: $.u, required: true}}}
      chunk: {method: PUT, url: "{{session.u}}", auth: off, body: {kind: raw}}
    """)

  /// Somebody else's profile could make the server echo any URL; the program's own profiles do not.
  @Test(arguments: [
    ("https://h.test/api", "https://other.test/1", true, true),
    ("https://h.test/api", "https://other.test/1", false, false),
    ("https://h.test/api", "http://other.test/1", true, false),
    ("http://h.test/api", "http://other.test/1", true, false),
    ("http://h.test/api", "https://other.test/1", true, false),
    ("https://h.test/api", "https://h.test:444/1", false, false),
    ("http://h.test/api", "http://h.test/1", false, true),
  ])
  func urlsOfServersAreFollowedByBuiltInProfilesOnly(_ to: String, _ url: String, _ isBuiltin: Bool, _ goes: Bool)
    throws
  {
    let proto = try ProfileProtocol(Self.settings(Self.follows, to, builtin: isBuiltin))
    let driver = try ProfileDriver(proto, content: pattern(3), secrets: [:])
    let created = ProfileDriver.Turn.on("POST \(to)/i", 200, "{\"u\":\"\(url)\"}")
    let end = driver.run(goes ? [created, .on("PUT \(url)", 200)] : [created])
    #expect(end.isDone() == goes, "\(end)")
    #expect(driver.log.count == (goes ? 2 : 1))
  }

  @Test(arguments: [["other.test"], ["other.test:80"], ["*.test"]]) func whatIsAllowedStillNeedsTLS(_ allowed: [String])
    throws
  {
    let proto = try ProfileProtocol(Self.settings(Self.follows, "https://h.test/api", allowed: allowed))
    let driver = try ProfileDriver(proto, content: pattern(3), secrets: [:])
    let end = driver.run([.on("POST https://h.test/api/i", 200, "{\"u\":\"http://other.test/1\"}")])
    #expect(end.failureText?.contains("plain http") == true, "\(end)")
    #expect(driver.log.count == 1)
  }

  /// The transport checks the address behind a name that a server gave, and no other address.
  @Test func onlyWhatAServerNamedIsBoundToPublicAddresses() throws {
    let rule = { (allowed: [String]) throws -> AddressRule in
      let proto = try ProfileProtocol(Self.settings(Self.follows, "https://h.test", allowed: allowed, builtin: true))
      var facts = TransferFacts(
        file: FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("k"), size: 3, mtimeMs: 0),
        layout: ChunkLayout(whole: 3))
      facts.session = SessionFacts(remoteID: "r", intendedAtMs: 0, notes: ["s.u": "\"https://other.test/1\""])
      let chunk = ChunkFacts(seq: 0, range: facts.layout.range(0))
      let context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
      #expect(try proto.request(.create, facts, context).addresses == .any)
      return try proto.request(.chunk(chunk), facts, context).addresses
    }
    #expect(try rule([]) == .public(unlessOf: "https://h.test"))
    #expect(try rule(["other.test"]) == .any)
  }

  /// An input by reference is as secret as a secret: it is not sent to a server that another server names.
  @Test func anInputByReferenceIsHidden() throws {
    let text = Self.follows.replacing(
      "steps:", with: "inputs: [{name: a}]\nheaders: {X-A: \"{{input.a}}\"}\nsteps:")
    let profile = try ProfileReadTests.read(text)
    let settings = { (inputs: [String: String], secrets: [String: String]) in
      BatchSettings(
        destination: "https://h.test",
        profile: ProfileSettings(name: "x", text: profile.text, inputs: inputs, secrets: secrets, isBuiltin: true))
    }
    let turns: [ProfileDriver.Turn] = [
      .on("POST https://h.test/i", 200, "{\"u\":\"https://other.test/1\"}"), .on("PUT https://other.test/1", 200),
    ]
    let plain = try ProfileDriver(ProfileProtocol(settings(["a": "v"], [:])), content: pattern(3), secrets: [:])
    #expect(plain.run(turns).isDone())
    let hidden = try ProfileDriver(
      ProfileProtocol(settings([:], ["a": "env:A"])), content: pattern(3), secrets: ["a": "v"])
    #expect(hidden.run([turns[0]]).failureText?.contains("where credentials do not go") == true)
  }
}
