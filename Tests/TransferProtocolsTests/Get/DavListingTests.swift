import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Collections of WebDAV servers.
@Suite struct DavListingTests {
  private let proto: GetProtocol

  init() throws {
    let settings = BatchSettings(
      destination: "dav+http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func facts(_ key: String = "a%20b/c/") -> TransferFacts {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes(key), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: "listing", intendedAtMs: 0)
    return facts
  }

  private func list(_ responses: String, status: Int = 207) -> Interpretation {
    var reply = TransferReply()
    reply.status = status
    reply.body = Array("<d:multistatus xmlns:d=\"DAV:\">\(responses)</d:multistatus>".utf8)
    return proto.interpret(reply, to: .probe(marker: nil), facts(), Scene.context())
  }

  private func response(_ href: String, _ properties: String = "<d:resourcetype/>") -> String {
    """
    <d:response><d:href>\(href)</d:href><d:propstat><d:prop>\(properties)</d:prop>\
    <d:status>HTTP/1.1 200 OK</d:status></d:propstat>\
    <d:propstat><d:prop><d:getetag>no</d:getetag></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>\
    </d:response>
    """
  }

  private let folder = "<d:resourcetype><d:collection/></d:resourcetype>"

  @Test func oneCollectionIsAskedFor() throws {
    let request = try proto.request(
      .probe(marker: nil), facts(), RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts()))
    #expect(request.method.rawValue == "PROPFIND" && request.url == "http://h/a%20b/c/")
    #expect(request.fields[.depth] == "1")
  }

  /// Hrefs may be absolute or relative, and each server encodes them differently.
  @Test func whatIsInItIsNamed() {
    let listed = list(
      response("/a%20b/c/", folder)
        + response(
          "/a%20b/%63/x%C3%BC",
          "<d:resourcetype/><d:getcontentlength>7</d:getcontentlength><d:getetag>\"e\"</d:getetag>")
        + response("http://h/a%20b/c/sub", folder) + response("/a%20b/c/deep/er") + response("/a%20b/c/p%2Fq"))
    guard case .listed(let page) = listed.outcome else { return #expect(Bool(false), "\(listed.outcome)") }
    #expect(page.objects.count == 3 && page.isLast)
    #expect(
      page.objects.first
        == ListedObject(key: NameBytes("a%20b/c/x%C3%BC"), path: NameBytes("xü"), size: 7, etag: "\"e\""))
    #expect(page.objects[1] == ListedObject(key: NameBytes("a%20b/c/sub/"), path: NameBytes("sub/")))
    guard case .refused = page.objects[2].outcome else { return #expect(Bool(false)) }
  }

  /// A link to a folder above itself is a tree without an end.
  @Test(arguments: [(63, true), (64, false)]) func aTreeHasAnEnd(_ depth: Int, _ isFollowed: Bool) throws {
    let base = String(repeating: "l/", count: depth)
    var reply = TransferReply()
    reply.status = 207
    let members = response("/" + base, folder) + response("/\(base)l/", folder) + response("/\(base)f")
    reply.body = Array("<d:multistatus xmlns:d=\"DAV:\">\(members)</d:multistatus>".utf8)
    guard case .listed(let page) = proto.interpret(reply, to: .probe(marker: nil), facts(base), Scene.context()).outcome
    else { return #expect(Bool(false)) }
    let refusals: [ErrorCode?] = page.objects.map {
      if case .refused(let failure) = $0.outcome { failure.code } else { nil }
    }
    #expect(refusals == [isFollowed ? nil : .protoBadReply, nil], "its files are fetched")
  }

  @Test(arguments: ["/a%20b/x", "http://other/a%20b/c/x", "https://h/a%20b/c/x", "/a%20b/c/../x", "/", "/a%20b/c%zz"])
  func whatIsElsewhereIsRefused(_ href: String) {
    let meaning = list(response("/a%20b/c/", folder) + response(href))
    guard case .failed(let failure, .permanent) = meaning.outcome else {
      return #expect(Bool(false), "\(meaning.outcome)")
    }
    #expect(failure.code == .protoBadReply && failure.message.contains("which is not in the collection"))
  }

  @Test(
    arguments: [("9007199254740992", 9_007_199_254_740_992), ("9007199254740993", nil), ("9223372036854775807", nil)]
      as [(String, Int64?)])
  func absurdSizesAreUnknown(_ text: String, _ size: Int64?) {
    let file = response("/a%20b/c/x", "<d:resourcetype/><d:getcontentlength>\(text)</d:getcontentlength>")
    guard case .listed(let page) = list(response("/a%20b/c/", folder) + file).outcome else {
      return #expect(Bool(false))
    }
    #expect(page.objects.map(\.size) == [size])
  }

  @Test func otherAnswersAreNoLists() {
    guard case .failed(let plain, .permanent) = list("", status: 200).outcome else { return #expect(Bool(false)) }
    #expect(plain.code == .protoUnsupported)
    guard case .failed(let missing, .permanent) = list("", status: 404).outcome else { return #expect(Bool(false)) }
    #expect(missing.code == .http404)
    guard case .listed(let empty) = list(response("/a%20b/c/", folder)).outcome else { return #expect(Bool(false)) }
    #expect(empty.objects.isEmpty && empty.isLast)
  }

  /// An answer that does not say that the collection exists and is one does not say that it is empty.
  @Test(
    arguments: [
      ("", ErrorCode.protoBadReply, false),
      ("<d:response><d:href>/a%20b/c/</d:href></d:response>", .protoBadReply, false),
      ("<d:response><d:href>/a%20b/c/x</d:href></d:response>", .protoBadReply, false),
      (
        "<d:response><d:href>/a%20b/c/</d:href><d:status>HTTP/1.1 403 Forbidden</d:status></d:response>", .http403,
        false
      ),
      (
        "<d:response><d:href>/a%20b/c/</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>", .http404,
        false
      ),
      (
        "<d:response><d:href>/a%20b/c/</d:href><d:status>HTTP/1.1 503 Busy</d:status></d:response>", .http503, true
      ),
      ("<d:response><d:href>/a%20b/c/</d:href><d:status>what</d:status></d:response>", .protoBadReply, false),
    ] as [(String, ErrorCode, Bool)])
  func whatSaysNothingOfTheCollectionIsNoEmptyOne(_ inner: String, _ code: ErrorCode, _ isRetried: Bool) {
    let meaning = list(inner)
    guard case .failed(let failure, let action) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
    #expect(failure.code == code, "\(failure)")
    #expect((action != .permanent) == isRetried, "\(action)")
  }

  /// A member for which the server reports only a failure fails alone.
  @Test func aMemberThatFailsIsRefusedAlone() throws {
    let listed = list(
      response("/a%20b/c/", folder) + response("/a%20b/c/x")
        + "<d:response><d:href>/a%20b/c/y</d:href><d:status>HTTP/1.1 403 Forbidden</d:status></d:response>")
    guard case .listed(let page) = listed.outcome else { return #expect(Bool(false), "\(listed.outcome)") }
    #expect(page.objects.first?.outcome == .wanted)
    guard case .refused(let failure) = try #require(page.objects.last).outcome else { return #expect(Bool(false)) }
    #expect(page.objects.count == 2 && failure.code == .http403)
  }

  @Test func onlyWebDAVListsFolders() throws {
    #expect(try DownloadURL("dav+https://h/a/", listsFolders: true).isFolder)
    #expect(try DownloadURL("dav+https://h", listsFolders: true).key.isEmpty)
    for wrong in ["https://h/a/", "dav+https://h/a/?x"] {
      #expect(throws: TransferError.self) { try DownloadURL(wrong, listsFolders: true) }
    }
    #expect(throws: TransferError.self) { try DownloadURL("dav+https://h/a/") }
  }
}
