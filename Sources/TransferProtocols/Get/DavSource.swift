import HTTPTypes
import TransferModel

/// Files on WebDAV servers (RFC 4918): fetched like those of other web servers, and listed by PROPFIND, one collection
/// at a time.
struct DavSource: GetSource {
  let web: WebSource

  var protocolName: String { web.protocolName }
  var sentDigest: DigestAlgorithm { web.sentDigest }
  var sendsWhatIsStored: Bool { web.sendsWhatIsStored }
  var tellsDigestsLate: Bool { web.tellsDigestsLate }

  func refusal(ofKey key: NameBytes) -> Failure? { web.refusal(ofKey: key) }
  func location(ofKey key: NameBytes) -> String { web.location(ofKey: key) }
  func fileName(ofKey key: NameBytes) -> NameBytes { web.fileName(ofKey: key) }
  func complete(_ version: inout RemoteVersion, _ fields: HTTPFields) { web.complete(&version, fields) }
  func size(behindTheEnd reply: TransferReply) -> Int64? { web.size(behindTheEnd: reply) }

  func request(
    _ part: GetPart, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try web.request(part, facts, context) }

  func meaning(of reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    web.meaning(of: reply, facts, context)
  }

  // MARK: - Collections

  private static let question = """
    <?xml version="1.0" encoding="utf-8"?>\
    <propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getetag/></prop></propfind>
    """

  func listing(
    _ next: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var request = try web.request(.propfind, facts, context)
    // Never infinity, which servers refuse or choke on (RFC 4918 section 9.1).
    request.fields[.depth] = "1"
    request.fields[.contentType] = "application/xml; charset=utf-8"
    request.body = .bytes(Array(Self.question.utf8))
    request.limits = .conclusion
    request.limits.maxReplyBytes = DavCollection.limits.bytes
    return request
  }

  func page(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if let meaning = web.meaning(of: reply, facts, context) { return meaning }
    guard reply.status == 207 else {
      if (200..<300).contains(reply.status) {
        return .failed(
          Failure(.protoUnsupported, "the server answered \(reply.status) to PROPFIND: it does not list collections"),
          .permanent)
      }
      return .refused(reply, context)
    }
    guard !reply.isBodyTruncated, let members = try? DavCollection.members(reply.body) else {
      let text = "the list of the collection cannot be read, or is longer than \(DavCollection.limits.bytes >> 20) MiB"
      return .failed(Failure(.protoBadReply, text), .permanent)
    }
    do throws(Failure) {
      let base = facts.route.url ?? location(ofKey: facts.file.key)
      guard let collection = members.first(where: { Self.isSame($0, as: base) }) else {
        throw Failure(.protoBadReply, "the server lists members, but not the collection itself")
      }
      if let status = collection.failedStatus { return refusal(of: status, reply, context) }
      guard collection.isCollection else {
        throw Failure(.protoBadReply, "according to the server it is not a collection, so it has no members")
      }
      let objects = try members.map { member throws(Failure) in
        try Self.object(member, in: base, key: facts.file.key)
      }.compactMap(\.self)
      var progress = ListingProgress(facts.session)
      return progress.page(objects, skipped: 0, next: nil)
    } catch {
      return .failed(error, .permanent)
    }
  }

  /// A status for the collection inside of the answer means the same as an answer with that status.
  private func refusal(of status: Int, _ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard (300...599).contains(status) else {
      return .failed(
        Failure(.protoBadReply, "the server reports for the collection the status \(status)"), .permanent)
    }
    var inner = reply
    (inner.status, inner.body) = (status, [])
    return .refused(inner, detail: "reported for the collection in a 207 answer", context)
  }

  /// A link of a server to a folder above it is a tree without an end.
  private static let deepest = 64

  private static func isSame(_ member: DavCollection.Member, as base: String) -> Bool {
    let url = URLReference.resolve(member.href, against: base)
    guard let found = components(url) else { return false }
    return WebOrigin(url: url) == WebOrigin(url: base) && found == components(base)
  }

  /// nil for the collection itself, and for resources that are not direct members of it.
  private static func object(
    _ member: DavCollection.Member, in base: String, key: NameBytes
  ) throws(Failure) -> ListedObject? {
    let url = URLReference.resolve(member.href, against: base)
    guard WebOrigin(url: url) == WebOrigin(url: base), let below = components(url), let above = components(base),
      below.starts(with: above)
    else {
      throw Failure(.protoBadReply, "the server names \"\(printable(member.href))\", which is not in the collection")
    }
    guard below.count == above.count + 1, let name = below.last else { return nil }
    let end: [UInt8] = member.isCollection ? [0x2F] : []
    var object = ListedObject(
      key: NameBytes(key.bytes + Array(PercentEncoding.component(name).utf8) + end), path: NameBytes(name + end),
      size: member.isCollection ? nil : member.size, etag: member.etag)
    if let status = member.failedStatus {
      let text = "the server answered \(status) for it when its folder was listed"
      object.outcome = .refused(Failure(ErrorCode(httpStatus: status), text))
    }
    if member.isCollection, key.bytes.count(where: { $0 == 0x2F }) >= deepest {
      let text = "it is deeper than \(deepest) folders: perhaps the server has a loop"
      object.outcome = .refused(Failure(.protoBadReply, text))
    }
    if name.contains(0x2F) {
      object.outcome = .refused(Failure(.sourceName, "its name contains a slash, which is invalid in a local name"))
    }
    return object
  }

  /// The decoded path components of a URL, without the empty one after a trailing slash.
  private static func components(_ url: String) -> [[UInt8]]? {
    var parts = URLReference.Parts(url).path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
    if parts.last?.isEmpty ?? false { parts.removeLast() }
    var components: [[UInt8]] = []
    for part in parts {
      guard let decoded = PercentEncoding.decode(part) else { return nil }
      components.append(decoded)
    }
    return components
  }
}

extension HTTPRequest.Method {
  static let propfind = Self("PROPFIND")!
}

extension HTTPField.Name {
  static let depth = Self("Depth")!
}

/// The answer to a PROPFIND (RFC 4918 section 13), parsed while it is read, because a collection may have many members.
struct DavCollection {
  struct Member: Hashable {
    var href = ""
    var isCollection = false
    /// Bytes.
    var size: Int64?
    var etag = ""
    /// The status that the server gives instead of properties, if it is not a success.
    var failedStatus: Int?
  }

  static let limits = XMLScanner.Limits(bytes: 32 << 20, depth: 16, elements: 1_000_000)

  private var members: [Member] = []
  private var member = Member()
  /// The content of a `propstat`, which is used if its status is 200.
  private var properties = Member()
  private var isFound = true
  private var path: [String] = []
  private var text = ""

  static func members(_ bytes: [UInt8]) throws(XMLFault) -> [Member] {
    var scanner = try XMLScanner(bytes, limits)
    var reading = Self()
    while let event = try scanner.next() {
      switch event {
      case .open(let name): reading.open(name)
      case .text(let text): reading.text += text
      case .close: reading.close()
      }
    }
    return reading.members
  }

  private mutating func open(_ name: String) {
    path.append(name)
    text = ""
    switch name {
    case "response": member = Member()
    case "propstat": (properties, isFound) = (Member(), true)
    case "collection" where path.dropLast().last == "resourcetype": properties.isCollection = true
    default: break
    }
  }

  private mutating func close() {
    let value = text.split { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == "\r\n" }.joined(
      separator: " ")
    text = ""
    switch path.removeLast() {
    case "href" where path.last == "response": member.href = value
    case "status" where path.last == "propstat": isFound = Self.status(value) == 200
    case "status" where path.last == "response":
      let status = Self.status(value) ?? 0
      if !(200..<300).contains(status) { member.failedStatus = status }
    case "getcontentlength": properties.size = ContentSize.read(value)
    case "getetag": properties.etag = value
    case "propstat" where isFound:
      member.isCollection = member.isCollection || properties.isCollection
      member.size = member.size ?? properties.size
      if member.etag.isEmpty { member.etag = properties.etag }
    case "response" where path.last == "multistatus": members.append(member)
    default: break
    }
  }

  /// The number in a status line (RFC 9112 section 4); nil if there is none.
  private static func status(_ line: String) -> Int? {
    let words = line.split(separator: " ")
    return words.count > 1 ? Int(words[1]) : nil
  }
}
