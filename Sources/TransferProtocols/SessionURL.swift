import TransferModel

/// Parses the URL of an upload from `Location`.
enum SessionURL {
  private static let longest = 4096

  /// The absolute URL, as the server wrote it, except for the parts that RFC 3986 section 5 adds to a relative one: IDs
  /// are never encoded again. `request` is the URL of the request.
  /// - Throws: `proto.bad_reply`, or `http.redirect` if it has another origin: credentials are never sent there.
  static func read(_ reply: TransferReply, _ origin: WebOrigin, request: String) throws(Failure) -> String {
    guard let location = reply.field("location"), !location.isEmpty else {
      throw Failure(.protoBadReply, "the server answered \(reply.status) without a Location")
    }
    let url = URLReference.resolve(location, against: request)
    guard url.utf8.count <= longest, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let found = WebOrigin(url: url)
    else { throw Failure(.protoBadReply, "the server answered \(reply.status) with a Location that is not a URL") }
    guard found == origin else {
      throw Failure(
        .httpRedirect,
        "the server put the upload at \(found), which is not \(origin); behind a proxy it needs the forwarded host and scheme"
      )
    }
    return url
  }
}

extension TransferReply {
  /// A decimal number of at most 18 digits in a field, by its lower-case name; nil for anything else, including signs.
  func number(_ name: String) -> Int64? {
    guard let text = field(name), (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }

  /// A web page: the answer of a proxy or login wall instead of the server.
  var isWebPage: Bool {
    field("content-type").map { $0.lowercased().hasPrefix("text/html") } ?? false
  }
}

extension Interpretation {
  /// The default meaning of an error answer to a repeatable request. See ``StatusClass``.
  static func refused(_ reply: TransferReply, detail: String = "", _ context: RequestContext) -> Interpretation {
    let detail = reply.status == 511 ? "the network may require a login" : detail
    let failure = Failure(answer: reply, detail: detail, wallMs: context.wallMs)
    switch StatusClass(reply.status) {
    case .success: return badReply(reply, "not the expected answer", .retry(isThrottled: false), context)
    case .redirect: return .failed(Failure(redirect: reply), .permanent)
    case .throttled: return .failed(failure, .retry(isThrottled: true))
    case .retry: return .failed(failure, .retry(isThrottled: false))
    case .permanent: return .failed(failure, .permanent)
    }
  }

  /// A 2xx that answers another kind of request, where the server cannot be queried for the outcome of this one.
  static func inconclusive(by reply: TransferReply) -> Interpretation {
    let text = "the server answered \(reply.status), which does not say whether the body is stored"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  /// A malformed success. A web page comes from an intermediary and would come again, so it is final.
  static func badReply(
    _ reply: TransferReply, _ what: String, _ action: FailureAction, _ context: RequestContext
  ) -> Interpretation {
    let text = reply.isWebPage ? "a web page, not an answer of the protocol" : what
    let failure = Failure(answer: reply, code: .protoBadReply, detail: text, wallMs: context.wallMs)
    return .failed(failure, reply.isWebPage && action != .unknown ? .permanent : action)
  }
}

extension [PartReceipt] {
  /// The digest of the whole file, combined from those of the parts in order; nil if one is missing or they cannot be
  /// combined.
  var combinedDigest: Digest? {
    guard var whole = first?.digest else { return nil }
    for part in dropFirst() {
      guard let next = part.digest, let sum = RunningDigest.combine(whole, next, secondLength: part.length) else {
        return nil
      }
      whole = sum
    }
    return whole
  }

  /// The weakest confirmation of a part; `none` without parts.
  var weakestConfirmation: Confirmation {
    let order = Confirmation.allCases
    return map(\.confirmation).max { order.firstIndex(of: $0)! < order.firstIndex(of: $1)! } ?? .none
  }
}
