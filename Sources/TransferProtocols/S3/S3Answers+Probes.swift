import TransferModel

extension S3Protocol {
  /// A page of ListParts.
  func interpretParts(
    _ reply: TransferReply, _ marker: String?, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.status == 200 else {
      let error = S3Error(reply)
      if reply.status == 404 && !error.isOfAll(status: 404) {
        return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
      }
      // Listing parts needs its own permission. Without it the ledger is used: the parts that it records as stored were
      // confirmed.
      if cannotBeAsked(reply, error) { return .inconclusive }
      return failed(reply, error, .probe(marker: marker), facts, context)
    }
    guard let root = document(reply), root.name.hasPrefix("ListParts") else {
      return badReply(reply, "the list of parts cannot be read", .retry(isThrottled: false), context)
    }
    let listed = root.all("Part").map { Self.part($0, facts.doubts) }
    guard !listed.contains(nil) else {
      return badReply(reply, "a part in the list has no number, size or ETag", .retry(isThrottled: false), context)
    }
    let receipts = Dictionary(facts.parts.map { ($0.seq, $0.etag) }, uniquingKeysWith: { first, _ in first })
    let parts = Self.unambiguous(
      listed.compactMap { $0 }.filter { $0.seq < facts.layout.count && Self.isOurs($0, receipts) })
    guard root.isTruncated else { return .partsListed(parts, next: nil) }
    let last = listed.compactMap { $0 }.map { $0.seq + 1 }.max()
    guard let next = root.value("NextPartNumberMarker").flatMap({ Int($0) }) ?? last,
      next > marker.flatMap({ Int($0) }) ?? 0
    else { return badReply(reply, "the list of parts does not advance", .retry(isThrottled: false), context) }
    // After our last part nothing is ours, however long the list continues.
    return .partsListed(parts, next: next >= facts.layout.count ? nil : String(next))
  }

  /// Each part once. A part that is named twice, with different contents, is left out, and so sent again.
  private static func unambiguous(_ parts: [ListedPart]) -> [ListedPart] {
    let named = Dictionary(grouping: parts, by: \.seq)
    var seen: Set<Int> = []
    return parts.filter { part in
      seen.insert(part.seq).inserted
        && (named[part.seq] ?? []).allSatisfy { $0.length == part.length && bare($0.etag) == bare(part.etag) }
    }
  }

  private static func part(_ element: XMLElement, _ doubts: [ChunkDoubt]) -> ListedPart? {
    guard let number = element.value("PartNumber").flatMap({ Int($0) }), number >= 1,
      let size = element.value("Size").flatMap(ContentSize.read), let etag = element.value("ETag")
    else { return nil }
    var part = ListedPart(seq: number - 1, length: size, etag: etag)
    part.checksum = checksum(element.value("ChecksumCRC64NVME"))
    if let doubt = doubts.first(where: { $0.seq == part.seq && $0.length == size }) {
      let sent = doubt.remote[DigestAlgorithm.crc64nvme.rawValue].flatMap { Digest(text: $0) }
      let md5 = doubt.remote[DigestAlgorithm.md5.rawValue].flatMap { Digest(text: $0) }
      part.receipt = receipt(part, sent, md5)
    }
    return part
  }

  public var digestsOfListing: Set<DigestAlgorithm> { [.crc64nvme, .md5] }

  /// A part of an engine that crashed while it waited for the answer: it counts as stored if the list matches the
  /// content of the source.
  package func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt? {
    guard listing.length == chunk.range.length, chunk.body == chunk.range else { return nil }
    return Self.receipt(listing, chunk.digests[.crc64nvme], chunk.digests[.md5])
  }

  /// A part whose answer was lost counts as stored if the list shows the digest of the sent bytes.
  private static func receipt(_ part: ListedPart, _ sent: Digest?, _ md5: Digest?) -> PartReceipt? {
    if let listed = part.checksum, let sent, listed != sent { return nil }
    let isProved = part.checksum != nil && sent != nil
    guard isProved || md5.map({ matches(part.etag, $0) }) == true else { return nil }
    return PartReceipt(
      seq: part.seq, length: part.length, etag: part.etag, digest: sent, md5: md5,
      confirmation: isProved ? .digest : .etag)
  }

  /// The server answers, but does not permit the query: this says nothing about what is stored.
  func cannotBeAsked(_ reply: TransferReply, _ error: S3Error) -> Bool {
    guard [400, 403, 405, 501].contains(reply.status) else { return false }
    switch error.meaning(status: reply.status) {
    case .permanent, .unsupported: return true
    case .retry, .throttled, .mismatch, .region, .clock, .credential, .refused, .noBucket, .sessionGone, .partsWrong,
      .exists:
      return false
    }
  }

  /// A part with an ETag other than that in our receipt is not the one that we sent; it is left out, and so sent again.
  private static func isOurs(_ part: ListedPart, _ receipts: [Int: String]) -> Bool {
    guard let etag = receipts[part.seq], !etag.isEmpty else { return true }
    return bare(etag) == bare(part.etag)
  }

  /// A page of ListMultipartUploads, or ListParts of one candidate.
  func interpretUnlistedUploads(
    _ reply: TransferReply, _ marker: String?, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard var search = marker == nil ? UnlistedUploadSearch() : UnlistedUploadSearch(marker: marker) else {
      return .failed(Failure(.engineBug, "the probe marker is not ours"), .permanent)
    }
    if !search.candidates.isEmpty { return interpretCandidate(reply, search, facts, context) }
    guard reply.status == 200 else { return unlistable(reply, marker, facts, context) }
    guard let root = document(reply), root.name.hasPrefix("ListMultipartUploads") else {
      return badReply(reply, "the list of uploads cannot be read", .retry(isThrottled: false), context)
    }
    search.candidates = candidates(root, facts, skewMs(reply, context) ?? context.learned.clockSkewMs)
    search.page = nextPage(root, after: search.page, facts)
    return .unlistedUploads([], next: search.marker)
  }

  /// Listing needs its own permission, and some servers do not support it. The lost session, if there is one, then
  /// stays until the server's own rule removes it.
  private func unlistable(
    _ reply: TransferReply, _ marker: String?, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let error = S3Error(reply)
    let cannot = [400, 403, 404, 405, 501].contains(reply.status)
    switch error.meaning(status: reply.status) {
    case .permanent where cannot, .unsupported where cannot, .sessionGone where cannot:
      return .unlistedUploads([], next: nil)
    default: return failed(reply, error, .probe(marker: marker), facts, context)
    }
  }

  private func candidates(_ root: XMLElement, _ facts: TransferFacts, _ skewMs: Int64) -> [String] {
    guard let intendedAtMs = facts.session?.intendedAtMs else { return [] }
    let found = root.all("Upload").filter { upload in
      isOurKey(upload["Key"]?.text ?? "", root, facts)
        && UnlistedUploadSearch.isCandidate(
          initiated: upload.value("Initiated"), intendedAtMs: intendedAtMs, skewMs: skewMs)
    }
    return Array(found.compactMap { $0.value("UploadId") }.prefix(UnlistedUploadSearch.mostCandidates))
  }

  /// Compared as bytes: to Swift, strings in different normal forms are equal.
  ///
  /// We request percent-encoded keys. Some servers encode keys without saying so, some with `+` for a blank. Without
  /// that statement a key matches either as it is or decoded: listed keys begin with our key, and no other such key can
  /// equal ours when it is decoded, because decoding makes nothing longer.
  private func isOurKey(_ text: String, _ root: XMLElement, _ facts: TransferFacts) -> Bool {
    let (key, raw) = (facts.file.key.bytes, Array(text.utf8))
    let spaced = raw.map { $0 == 0x2B ? 0x20 : $0 }
    if PercentEncoding.decode(raw) == key || PercentEncoding.decode(spaced) == key { return true }
    return root.value("EncodingType")?.lowercased() != "url" && raw == key
  }

  /// The listing is sorted by key, and our key is the first with itself as prefix: later pages contain nothing of ours.
  private func nextPage(_ root: XMLElement, after page: UnlistedUploadSearch.Page?, _ facts: TransferFacts)
    -> UnlistedUploadSearch
    .Page?
  {
    guard root.isTruncated, let key = root["NextKeyMarker"]?.text,
      isOurKey(key, root, facts), let uploadID = root.value("NextUploadIdMarker")
    else { return nil }
    let number = (page?.number ?? 0) + 1
    guard uploadID != page?.uploadID, number < UnlistedUploadSearch.mostPages else { return nil }
    return UnlistedUploadSearch.Page(
      key: String(decoding: facts.file.key.bytes, as: UTF8.self), uploadID: uploadID, number: number)
  }

  private func interpretCandidate(
    _ reply: TransferReply, _ search: UnlistedUploadSearch, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    var search = search
    let candidate = search.candidates.removeFirst()
    if reply.status == 404 && !S3Error(reply).isOfAll(status: 404) { return .unlistedUploads([], next: search.marker) }
    guard reply.status == 200 else {
      let error = S3Error(reply)
      // It is not confirmed to be empty, so it is not considered ours.
      if cannotBeAsked(reply, error) { return .unlistedUploads([], next: search.marker) }
      return failed(reply, error, .probe(marker: nil), facts, context)
    }
    guard let root = document(reply), root.name.hasPrefix("ListParts") else {
      return badReply(reply, "the list of parts cannot be read", .retry(isThrottled: false), context)
    }
    return .unlistedUploads(root.all("Part").isEmpty ? [candidate] : [], next: search.marker)
  }
}
