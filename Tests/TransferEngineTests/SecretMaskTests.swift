import HTTPTypes
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

@Suite struct SecretMaskTests {
  @Test func secretsDisappearFromWhatServersQuote() {
    let mask = SecretMask(.aws(accessKey: "AKIA", secretKey: "s3cr/et", sessionToken: "tok=en"))
    let text = "x s3cr/et y tok=en z ?X-Amz-Signature=abc123&a=b Authorization: Bearer abc.def, more"
    #expect(
      mask.applied(text)
        == "x [hidden] y [hidden] z ?X-Amz-Signature=[hidden]&a=b Authorization: Bearer [hidden], more")
  }

  @Test func aSecretIsHiddenBeforeAnybodyCutsTheAnswer() {
    let token = String(repeating: "t0ken", count: 100)
    var reply = TransferReply()
    reply.status = 403
    reply.body = Array("<Error><Message>bad \(token) here</Message></Error>".utf8)
    let mask = SecretMask(.aws(accessKey: "A", secretKey: "k", sessionToken: token))
    #expect(
      String(decoding: mask.applied(to: reply).body, as: UTF8.self)
        == "<Error><Message>bad [hidden] here</Message></Error>")
  }

  @Test func whatAServerGaveIsHiddenToo() {
    var learned = LearnedFacts()
    learned.discovered = ["secret.token": "abc-def-ghi", "secret.days": "7", "restarts.x": "2 12345678"]
    let mask = SecretMask(.inputs(["key": "k-1"]), [learned])
    #expect(mask.applied("k-1 abc-def-ghi 7 2 12345678") == "[hidden] [hidden] 7 2 12345678")
    #expect(SecretMask(nil, [LearnedFacts()]).applied("abc-def-ghi") == "abc-def-ghi")
  }

  @Test func basicCredentialsDisappearInBothForms() {
    let mask = SecretMask(.basic(user: "u", password: "canary"))
    #expect(mask.applied("canary and dTpjYW5hcnk=") == "[hidden] and [hidden]")
    #expect(SecretMask(nil).applied("nothing to hide") == "nothing to hide")
  }

  /// Error texts quote URLs, and what works as a credential in them has many names.
  @Test(arguments: [
    ("no /f?h=0a1b2c3d4e5f60718293a4b5c6d7e8f9&t=1795723456 here", "no /f?h=[hidden]&t=1795723456 here"),
    ("x?h=aaaaaaaa00000000&t=1795723456", "x?h=[hidden]&t=1795723456"),
    (
      "https://www.dropbox.com/scl/fi/a/b.zip?rlkey=abc&dl=1",
      "https://www.dropbox.com/scl/fi/a/b.zip?rlkey=[hidden]&dl=1"
    ),
    ("/v?wsSecret=a&wsTime=b&wskeyhash=c", "/v?wsSecret=[hidden]&wsTime=b&wskeyhash=[hidden]"),
    ("/b?X-Goog-Signature=a&X-Goog-Credential=b&x=1", "/b?X-Goog-Signature=[hidden]&X-Goog-Credential=[hidden]&x=1"),
    ("/b?sv=2022&se=2026-11-27T00%3A00%3A00Z&sig=a%2Fb", "/b?sv=2022&se=2026-11-27T00%3A00%3A00Z&sig=[hidden]"),
    ("/c?Expires=1&Signature=a&Key-Pair-Id=K", "/c?Expires=1&Signature=[hidden]&Key-Pair-Id=[hidden]"),
    ("/d?Policy=a~b&Signature=c", "/d?Policy=[hidden]&Signature=[hidden]"),
    ("/e?hdnts=exp=1795723456~acl=/*~hmac=ab", "/e?hdnts=[hidden]"),
    ("/f?md5=ab_c&expires=17", "/f?md5=[hidden]&expires=17"),
    ("/g?temp_url_sig=a&temp_url_expires=9", "/g?temp_url_sig=[hidden]&temp_url_expires=9"),
    ("/h?a=1&amp;sig=b&amp;c=2", "/h?a=1&amp;sig=[hidden]&amp;c=2"),
    (#"/i?a=1\u0026sig=b"#, #"/i?a=1\u0026sig=[hidden]"#),
    ("/j#token=abc", "/j#token=[hidden]"), ("x-amz-signature=abc, or", "x-amz-signature=[hidden], or"),
    ("/k?9e107d9d372bb6826bd81d3542a419d6", "/k?[hidden]"), ("invalid tempauth=v1.ey&x", "invalid tempauth=[hidden]&x"),
  ])
  func signedURLsOfAllKindsAreMasked(_ text: String, _ expected: String) {
    #expect(SecretMask(nil).applied(text) == expected)
  }

  @Test(arguments: [
    "what? no=such file", "/a?versionId=3HL4kqtJvjVBH40Nrjfkd&part=2", "/a?id=9e107d9d372bb6826bd81d3542a419d6",
    "/a?t=1795723456", "use --auth=none", "ETag=9e107d9d372bb6826bd81d3542a419d6 differs", "a=b?", "#1 failed",
  ])
  func whatNamesContentIsNotMasked(_ text: String) { #expect(SecretMask(nil).applied(text) == text) }

  // MARK: - Ordinary words

  private func json(_ secret: String, _ body: String, status: Int = 200) -> String {
    var reply = TransferReply()
    reply.status = status
    reply.body = Array(body.utf8)
    return String(decoding: SecretMask(.inputs(["a": secret])).applied(to: reply).body, as: UTF8.self)
  }

  /// A secret may be a word that the server's program uses as a name: its answers must stay readable.
  @Test(arguments: [200, 403]) func namesAreNotEaten(_ status: Int) {
    for (secret, body) in [
      ("session", #"{"session" : {"session_id": 7, "mysession": "sessions"}}"#), ("uploadId", #"{"uploadId":"x"}"#),
      ("7", #"{"n":7,"list":[7, 17],"t":"17"}"#), ("true", #"[true,{"true":1}]"#),
      ("Code", "<Error><Code>X</Code><Code a=\"b\">Y</Code></Error>"), ("count", "count=abc&counts=1"),
    ] {
      #expect(json(secret, body, status: status) == body)
    }
  }

  /// The same word is hidden wherever it is a value, in every kind of answer.
  @Test(arguments: [200, 403]) func aWordThatIsAValueIsHidden(_ status: Int) {
    for (secret, body, expected) in [
      ("session", #"{"session":"session","a":["bad session!"]}"#, #"{"session":"[hidden]","a":["bad [hidden]!"]}"#),
      ("session", #"{"a":"{\"k\": \"session\"}"}"#, #"{"a":"{\"k\": \"[hidden]\"}"}"#),
      ("1234", #"{"pin":"1234","n":1234}"#, #"{"pin":"[hidden]","n":1234}"#),
      ("Code", "<Code>Code</Code>", "<Code>[hidden]</Code>"),
      (
        "sesame", "wrong password sesame for u:sesame, p=sesame&x",
        "wrong password [hidden] for u:[hidden], p=[hidden]&x"
      ),
      ("sesame", "truncated \"sesame", "truncated \"[hidden]"),
    ] {
      #expect(json(secret, body, status: status) == expected)
    }
  }

  /// A secret that is not a word is hidden everywhere, even as a name, and in every spelling.
  @Test func tokensAreHiddenInEverySpelling() {
    let secret = "p/w&\"1 t0ken"
    let mask = SecretMask(.inputs(["a": secret]))
    for spelling in [
      secret, "p%2Fw%26%221%20t0ken", "p\\/w&\"1 t0ken", "p/w&amp;\"1 t0ken", "p/w&\\\"1 t0ken",
      base64(Array(secret.utf8)),
    ] {
      #expect(mask.applied("x\(spelling)y") == "x[hidden]y", "\(spelling)")
    }
    #expect(
      json("t0ken-123", #"{"t0ken-123":1,"xt0ken-123y":"t0ken-123"}"#) == #"{"[hidden]":1,"x[hidden]y":"[hidden]"}"#)
    #expect(json("correcthorsebatterystaple", #"{"correcthorsebatterystaple":1}"#) == #"{"[hidden]":1}"#)
    #expect(json("12345678", "[12345678]") == "[[hidden]]")
  }

  /// What the filters of a profile make of a secret, and what JSON writers do with other alphabets.
  @Test(arguments: [
    "P/W&\"1 T0KEN", "p/w&\"1 t0ken", "502f772622312054306b656e", "502F772622312054306B656E", "UC93JiIxIFQwa2Vu",
  ])
  func renderedSecretsAreHidden(_ rendered: String) {
    let mask = SecretMask(.inputs(["a": "P/w&\"1 T0ken"]))
    #expect(mask.applied("x\(rendered)y") == "x[hidden]y", "\(rendered)")
  }

  @Test(arguments: [
    ("profsecretabc", "upper PROFSECRETABC hex 70726f66736563726574616263", "upper [hidden] hex [hidden]"),
    ("t0k?>n-12", "unpadded dDBrPz5uLTEy, url dDBrPz5uLTEy", "unpadded [hidden], url [hidden]"),
    ("t0k?>>n-123", "unpadded dDBrPz4+bi0xMjM, url dDBrPz4-bi0xMjM", "unpadded [hidden], url [hidden]"),
    ("geheim-ü-1234", #"{"a":"geheim-\u00fc-1234","b":"geheim-\u00FC-1234"}"#, #"{"a":"[hidden]","b":"[hidden]"}"#),
    ("Code", #"{"code":"code","CODE":"CODE"}"#, #"{"code":"code","CODE":"CODE"}"#),
  ])
  func otherFormsOfASecretAreHidden(_ secret: String, _ said: String, _ kept: String) {
    #expect(json(secret, said, status: 403) == kept)
  }

  /// The words of our own messages stay: an answer that they quote was masked before.
  @Test func ourWordsAreNotEaten() {
    let mask = SecretMask(.inputs(["a": "session", "b": "t0ken-123"]))
    #expect(mask.applied(toMessage: "the session t0ken-123 ended") == "the session [hidden] ended")
  }

  // MARK: - URLs of sessions

  private static let facts: TransferFacts = {
    var facts = TransferFacts(
      file: FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("k"), size: 3, mtimeMs: 0),
      layout: ChunkLayout(whole: 3))
    facts.session = SessionFacts(
      remoteID: "https://tus.example/files/24e533e02ec3bc40", intendedAtMs: 0,
      notes: [
        "final": "https://tus.example/files/9", "s.url": "\"https://up.example/a?upload_id=ABPtcPp\"", "s.n": "5",
      ])
    return facts
  }()

  @Test func theURLOfASessionIsASecret() {
    var chunk = ChunkFacts(seq: 0, range: ByteRange(offset: 0, length: 3))
    chunk.remote = ["url": "https://tus.example/files/part-7"]
    let urls = Self.facts.capabilities(chunk)
    #expect(urls.count == 4 && urls.contains("https://up.example/a?upload_id=ABPtcPp"))
    let mask = SecretMask(nil, capabilities: urls)
    for text in [
      "https://tus.example/files/24e533e02ec3bc40", "/files/24e533e02ec3bc40", "24e533e02ec3bc40", "/files/part-7",
      "https:\\/\\/tus.example\\/files\\/9", "/a?upload_id=ABPtcPp",
    ] {
      #expect(mask.applied("no \(text) here") == "no [hidden] here", "\(text)")
    }
    var facts = Self.facts
    facts.session = SessionFacts(remoteID: "VXBsb2FkIElE", intendedAtMs: 0)
    #expect(facts.capabilities(nil).isEmpty)
  }

  /// An unusable success may be the first answer to name a session; the protocol reads it unmasked.
  @Test func aSuccessKeepsItsURLsAndItsExcerptDoesNot() {
    let body = #"{"uploadUrl":"https:\/\/sn3.example\/up\/x?tempauth=a","see":"https://help.example"}"#
    let mask = SecretMask(nil, capabilities: Self.facts.capabilities(nil))
    var reply = TransferReply()
    reply.status = 200
    reply.body = Array(body.utf8)
    #expect(mask.applied(to: reply).body == reply.body)
    #expect(
      String(decoding: mask.applied(toExcerpt: reply.body), as: UTF8.self)
        == #"{"uploadUrl":"https:\/\/sn3.example/[hidden]","see":"https://help.example"}"#)
    #expect(mask.applied(toMessage: "at http://h.example/up/1 now") == "at http://h.example/[hidden] now")
  }

  // MARK: - Ids of requests

  private func id(_ text: String, _ mask: SecretMask, status: Int) -> String {
    var reply = TransferReply()
    reply.status = status
    reply.fields[.xRequestID] = text
    return mask.applied(to: reply).serverRequestID
  }

  /// A server may use anything that it was sent as the ID of the request, even if it accepts the request.
  @Test(arguments: [200, 204, 302, 500]) func anIDHoldsNoSecret(_ status: Int) {
    let keys = SecretMask(
      .aws(accessKey: "A", secretKey: "k/3+y t0ken", sessionToken: nil), capabilities: Self.facts.capabilities(nil))
    for (text, expected) in [
      ("r k/3+y t0ken", "r [hidden]"), ("k%2F3%2By%20t0ken", "[hidden]"),
      (base64(Array("k/3+y t0ken".utf8)), "[hidden]"),
      ("r24e533e02ec3bc40.1", "r[hidden].1"), ("/files/24e533e02ec3bc40", "[hidden]"),
      ("see https://else.example/a", "see https://else.example/[hidden]"), ("Bearer abc", "Bearer [hidden]"),
      ("/a?upload_id=ABPtcPp", "[hidden]"), ("tx-0123456789abcdef", "tx-0123456789abcdef"), ("k", "k"),
    ] {
      #expect(id(text, keys, status: status) == expected)
    }
  }

  /// URLs are looked up only where they can occur: most IDs are shorter than any URL, and an answer may have no ID.
  @Test func urlsAreNotAskedForInVain() {
    let asked = Lock(0)
    let mask = SecretMask(
      nil,
      capabilities: {
        asked.withLock { $0 += 1 }; return []
      }())
    #expect(id("4442587F", mask, status: 200) == "4442587F")
    #expect(id("", mask, status: 200) == "")
    #expect(asked.withLock { $0 } == 0)
    #expect(id("4442587FB7D0A2F9", mask, status: 200) == "4442587FB7D0A2F9")
    #expect(asked.withLock { $0 } == 1)
  }

  /// A remark of a protocol may quote the transport or the server.
  @Test func remarksAreMasked() throws {
    let settings = BatchSettings(destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 1, mtimeMs: 0)
    var meaning = Interpretation.settled
    meaning.remark = "the server said cAn4ry-9"
    let reading = ReplyReading(
      reply: TransferReply(), mask: SecretMask(.basic(user: "u", password: "cAn4ry-9")), bringsSecrets: false,
      transferProtocol: ProtocolInUse(try AllProtocols.make(settings, credentialsRegion: nil)),
      step: .probe(marker: "zsync"), facts: TransferFacts(file: file, layout: ChunkLayout(whole: 1)),
      context: RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts()), meaning: meaning)
    let remark = try #require(reading.read().meaning.remark)
    #expect(remark.hasPrefix("the server said") && !remark.contains("cAn4ry-9"))
  }
}

extension HTTPField.Name {
  fileprivate static let xRequestID = HTTPField.Name("x-request-id")!
}
