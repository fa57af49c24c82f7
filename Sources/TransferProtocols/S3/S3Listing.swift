import HTTPTypes
import TransferModel

/// All objects of a bucket whose keys begin with a prefix, page by page (ListObjectsV2).
extension S3Source {
  private static let pageSize = "1000"
  /// The prefix of a page marker that is the last key of the previous page: for servers that support only the first
  /// version of the call, and send no token.
  private static let keyMark: Character = "k"
  private static let tokenMark: Character = "t"

  func listing(
    _ next: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var draft = S3Draft(method: .get, key: NameBytes(""))
    draft.query = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", Self.pageSize)]
    draft.bytesInQuery = [("prefix", facts.file.key)]
    if let next, next.first == Self.tokenMark {
      draft.query.append(("continuation-token", String(next.dropFirst())))
    } else if let key = next.flatMap(Self.key(ofMarker:)) {
      draft.bytesInQuery += [("marker", key), ("start-after", key)]
    }
    return try draft.signed(s3.settings, context)
  }

  /// nil for a token.
  private static func key(ofMarker marker: String) -> NameBytes? {
    guard marker.first == keyMark else { return nil }
    return PercentEncoding.decode(marker.dropFirst().utf8).map { NameBytes($0) }
  }

  func page(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    guard reply.status == 200 else {
      return meaning(of: reply, facts, context)
        ?? s3.answer(reply, facts, context).badReply("an answer to a listing", .retry(isThrottled: false))
    }
    guard NameBytes(reply.body).utf8 != nil else {
      let text = "the list of objects is not UTF-8, so its keys and markers cannot be read"
      return .failed(Failure(.protoBadReply, text), .permanent)
    }
    guard let root = reply.completeDocument, root.name == "ListBucketResult" else {
      return s3.answer(reply, facts, context).badReply(
        "the list of objects cannot be read", .retry(isThrottled: false))
    }
    var progress = ListingProgress(facts.session)
    do throws(Failure) {
      let isEncoded = Self.areKeysEncoded(root, below: facts.file.key)
      let keys = try root.all("Contents").map { item throws(Failure) in (try Self.key(item, isEncoded), item) }
      let next = try Self.next(root, last: keys.last?.0, after: progress.next)
      let objects = try keys.map { key, item throws(Failure) in
        try Self.object(key, item, below: facts.file.key)
      }.compactMap(\.self)
      if objects.isEmpty, next == nil, progress.found == progress.skipped {
        return .failed(Failure(.http404, "no object has a key with this prefix"), .permanent)
      }
      return progress.page(objects, skipped: keys.count - objects.count, next: next, last: keys.last?.0)
    } catch {
      return .failed(error, .permanent)
    }
  }

  /// Whether the keys of a page are percent-encoded, as we request. Some servers encode them without saying so: then
  /// all of them consist of what an encoder leaves, at least one is changed by decoding, and all begin with the prefix
  /// when they are decoded.
  private static func areKeysEncoded(_ root: XMLElement, below prefix: NameBytes) -> Bool {
    if let type = root.value("EncodingType") { return type.lowercased() == "url" }
    var hasEncoded = false
    for item in root.all("Contents") {
      let text = Array((item["Key"]?.text ?? "").utf8)
      guard text.allSatisfy(PercentEncoding.isOfEncodedPath), let key = PercentEncoding.decode(text),
        key.starts(with: prefix.bytes)
      else { return false }
      hasEncoded = hasEncoded || text.contains(0x25)
    }
    return hasEncoded
  }

  private static func key(_ item: XMLElement, _ isEncoded: Bool) throws(Failure) -> NameBytes {
    guard let text = item["Key"]?.text, !text.isEmpty else {
      throw Failure(.protoBadReply, "the list of objects has one without a key")
    }
    // A blank is encoded as a plus there.
    let bytes = Array(text.utf8).map { $0 == 0x2B ? 0x20 : $0 }
    guard isEncoded else { return NameBytes(Array(text.utf8)) }
    guard let key = PercentEncoding.decode(bytes) else {
      throw Failure(.protoBadReply, "the list of objects has a key without the announced encoding")
    }
    return NameBytes(key)
  }

  /// nil for a folder marker, which some programs create.
  private static func object(
    _ key: NameBytes, _ item: XMLElement, below prefix: NameBytes
  ) throws(Failure) -> ListedObject? {
    guard key.bytes.starts(with: prefix.bytes) else {
      throw Failure(.protoBadReply, "the list of objects has keys that do not begin with the prefix")
    }
    guard !key.isFolder else { return nil }
    let size = item.value("Size").flatMap(ContentSize.read)
    let path = NameBytes(Array(key.bytes.dropFirst(prefix.bytes.count)))
    return ListedObject(key: key, path: path, size: size, etag: item.value("ETag") ?? "")
  }

  /// The marker of the next page; nil for none.
  private static func next(
    _ root: XMLElement, last: NameBytes?, after marker: String?
  ) throws(Failure) -> String? {
    guard root.isTruncated else {
      guard root.value("NextContinuationToken") == nil else {
        throw Failure(.protoBadReply, "the list of objects says that it is complete, and names a next page")
      }
      return nil
    }
    let next =
      root.value("NextContinuationToken").map { "\(tokenMark)\($0)" }
      ?? last.map { "\(keyMark)\(PercentEncoding.component($0.bytes))" }
    guard let next else {
      throw Failure(.protoBadReply, "the list of objects is truncated, but has no continuation marker")
    }
    // Keys are listed in the order of their bytes.
    if let before = marker.flatMap(key(ofMarker:)), let last = key(ofMarker: next),
      !before.bytes.lexicographicallyPrecedes(last.bytes)
    {
      throw Failure(.protoBadReply, "the list of objects does not advance after the key \"\(before.embedded)\"")
    }
    guard next != marker else {
      throw Failure(.protoBadReply, "the list of objects repeats its continuation marker: it is circular")
    }
    return next
  }
}

extension XMLElement {
  /// Whether a page of a list says that another one follows, in either form of a boolean (XML Schema part 2, section
  /// 3.2.2) and in any case.
  var isTruncated: Bool { ["true", "1"].contains(value("IsTruncated")?.lowercased()) }
}
