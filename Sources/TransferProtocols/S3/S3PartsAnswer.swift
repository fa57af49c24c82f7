import TransferModel

/// A page of ListParts.
struct S3PartsAnswer {
  let answer: S3Answer
  /// That of the request; nil for the first page.
  let marker: String?

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    guard reply.status == 200 else {
      let error = S3Error(reply)
      if reply.status == 404 && !error.isOfAll(status: 404) {
        return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
      }
      // Listing parts needs its own permission. Without it the ledger is used: the parts that it records as stored were
      // confirmed.
      if answer.cannotBeAsked(error) { return .inconclusive }
      return answer.failed(error, .probe(marker: marker))
    }
    guard let root = reply.completeDocument, root.name.hasPrefix("ListParts") else {
      return answer.badReply("the list of parts cannot be read", .retry(isThrottled: false))
    }
    let listed = root.all("Part").map { Self.part($0, facts.doubts) }
    guard !listed.contains(nil) else {
      return answer.badReply("a part in the list has no number, size or ETag", .retry(isThrottled: false))
    }
    let receipts = Dictionary(facts.parts.map { ($0.seq, $0.etag) }, uniquingKeysWith: { first, _ in first })
    let parts = Self.unambiguous(
      listed.compactMap { $0 }.filter { $0.seq < facts.layout.count && Self.isOurs($0, receipts) })
    guard root.isTruncated else { return .partsListed(parts, next: nil) }
    let last = listed.compactMap { $0 }.map { $0.seq + 1 }.max()
    guard let next = root.value("NextPartNumberMarker").flatMap({ Int($0) }) ?? last,
      next > marker.flatMap({ Int($0) }) ?? 0
    else { return answer.badReply("the list of parts does not advance", .retry(isThrottled: false)) }
    // After our last part nothing is ours, however long the list continues.
    return .partsListed(parts, next: next >= facts.layout.count ? nil : String(next))
  }

  /// Each part once. A part that is named twice, with different contents, is left out, and so sent again.
  private static func unambiguous(_ parts: [ListedPart]) -> [ListedPart] {
    let named = Dictionary(grouping: parts, by: \.seq)
    var seen: Set<Int> = []
    return parts.filter { part in
      seen.insert(part.seq).inserted
        && (named[part.seq] ?? []).allSatisfy {
          $0.length == part.length && S3Tag.bare($0.etag) == S3Tag.bare(part.etag)
        }
    }
  }

  private static func part(_ element: XMLElement, _ doubts: [ChunkDoubt]) -> ListedPart? {
    guard let number = element.value("PartNumber").flatMap({ Int($0) }), number >= 1,
      let size = element.value("Size").flatMap(ContentSize.read), let etag = element.value("ETag")
    else { return nil }
    var part = ListedPart(seq: number - 1, length: size, etag: etag)
    part.checksum = S3Tag.checksum(element.value("ChecksumCRC64NVME"))
    if let doubt = doubts.first(where: { $0.seq == part.seq && $0.length == size }) {
      let sent = doubt.remote[DigestAlgorithm.crc64nvme.rawValue].flatMap { Digest(text: $0) }
      let md5 = doubt.remote[DigestAlgorithm.md5.rawValue].flatMap { Digest(text: $0) }
      part.receipt = receipt(part, sent, md5)
    }
    return part
  }

  /// A part whose answer was lost counts as stored if the list shows the digest of the sent bytes.
  static func receipt(_ part: ListedPart, _ sent: Digest?, _ md5: Digest?) -> PartReceipt? {
    if let listed = part.checksum, let sent, listed != sent { return nil }
    let isProved = part.checksum != nil && sent != nil
    guard isProved || md5.map({ S3Tag.matches(part.etag, $0) }) == true else { return nil }
    return PartReceipt(
      seq: part.seq, length: part.length, etag: part.etag, digest: sent, md5: md5,
      confirmation: isProved ? .digest : .etag)
  }

  /// A part with an ETag other than that in our receipt is not the one that we sent; it is left out, and so sent again.
  private static func isOurs(_ part: ListedPart, _ receipts: [Int: String]) -> Bool {
    guard let etag = receipts[part.seq], !etag.isEmpty else { return true }
    return S3Tag.bare(etag) == S3Tag.bare(part.etag)
  }
}
