import TransferModel

/// A page of ListMultipartUploads, or ListParts of one candidate.
struct S3UploadsAnswer {
  let answer: S3Answer
  /// That of the request; nil for the first one.
  let marker: String?

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    guard var search = marker == nil ? UnlistedUploadSearch() : UnlistedUploadSearch(marker: marker) else {
      return .failed(Failure(.engineBug, "the probe marker is not ours"), .permanent)
    }
    if !search.candidates.isEmpty { return candidate(search) }
    guard reply.status == 200 else { return unlistable() }
    guard let root = reply.completeDocument, root.name.hasPrefix("ListMultipartUploads") else {
      return answer.badReply("the list of uploads cannot be read", .retry(isThrottled: false))
    }
    search.candidates = candidates(root, answer.skewMs ?? answer.context.learned.clockSkewMs)
    search.page = nextPage(root, after: search.page)
    return .unlistedUploads([], next: search.marker)
  }

  /// Listing needs its own permission, and some servers do not support it. The lost session, if there is one, then
  /// stays until the server's own rule removes it.
  private func unlistable() -> Interpretation {
    let error = S3Error(reply)
    let cannot = [400, 403, 404, 405, 501].contains(reply.status)
    switch error.meaning(status: reply.status) {
    case .permanent where cannot, .unsupported where cannot, .sessionGone where cannot:
      return .unlistedUploads([], next: nil)
    default: return answer.failed(error, .probe(marker: marker))
    }
  }

  private func candidates(_ root: XMLElement, _ skewMs: Int64) -> [String] {
    guard let intendedAtMs = facts.session?.intendedAtMs else { return [] }
    let found = root.all("Upload").filter { upload in
      isOurKey(upload["Key"]?.text ?? "", root)
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
  private func isOurKey(_ text: String, _ root: XMLElement) -> Bool {
    let (key, raw) = (facts.file.key.bytes, Array(text.utf8))
    let spaced = raw.map { $0 == 0x2B ? 0x20 : $0 }
    if PercentEncoding.decode(raw) == key || PercentEncoding.decode(spaced) == key { return true }
    return root.value("EncodingType")?.lowercased() != "url" && raw == key
  }

  /// The listing is sorted by key, and our key is the first with itself as prefix: later pages contain nothing of ours.
  private func nextPage(_ root: XMLElement, after page: UnlistedUploadSearch.Page?) -> UnlistedUploadSearch.Page? {
    guard root.isTruncated, let key = root["NextKeyMarker"]?.text,
      isOurKey(key, root), let uploadID = root.value("NextUploadIdMarker")
    else { return nil }
    let number = (page?.number ?? 0) + 1
    guard uploadID != page?.uploadID, number < UnlistedUploadSearch.mostPages else { return nil }
    return UnlistedUploadSearch.Page(
      key: String(decoding: facts.file.key.bytes, as: UTF8.self), uploadID: uploadID, number: number)
  }

  private func candidate(_ search: UnlistedUploadSearch) -> Interpretation {
    var search = search
    let candidate = search.candidates.removeFirst()
    if reply.status == 404 && !S3Error(reply).isOfAll(status: 404) { return .unlistedUploads([], next: search.marker) }
    guard reply.status == 200 else {
      let error = S3Error(reply)
      // It is not confirmed to be empty, so it is not considered ours.
      if answer.cannotBeAsked(error) { return .unlistedUploads([], next: search.marker) }
      return answer.failed(error, .probe(marker: nil))
    }
    guard let root = reply.completeDocument, root.name.hasPrefix("ListParts") else {
      return answer.badReply("the list of parts cannot be read", .retry(isThrottled: false))
    }
    return .unlistedUploads(root.all("Part").isEmpty ? [candidate] : [], next: search.marker)
  }
}
