import HTTPTypes
import TransferModel

// WebDAV collections, which must exist before an object in them (RFC 4918 section 9.3).

extension WebRules {
  static let dav = WebRules(
    templateRefusal: .init(
      cause: "WebDAV destinations have no {path} or {name}", remedy: "end the URL with a slash"),
    queryRefusal: .init(
      cause: "a WebDAV destination has no query", remedy: "remove \"?…\", or use http(s)://"))
}

extension WebPlace {
  /// The number of collections between the origin and the object.
  static func parentCount(ofKey key: NameBytes) -> Int { key.bytes.count { $0 == 0x2F } }

  /// The URL of the collection with the first `depth` components of the key.
  func collectionURL(_ key: NameBytes, depth: Int) -> String {
    let components = key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false).prefix(depth)
    return origin.description + "/" + components.map { PercentEncoding.component($0) + "/" }.joined()
  }

  func makeCollection(_ key: NameBytes, depth: Int, _ fields: HTTPFields) -> TransferRequest {
    TransferRequest(method: HTTPRequest.Method("MKCOL")!, url: collectionURL(key, depth: depth), fields: fields)
  }
}

extension PutProtocol: ParentCollections {
  package var makesParents: Bool { method == .dav }

  package func needsParents(_ step: StepRequest) -> Bool { if case .chunk = step { makesParents } else { false } }
}

/// The temporary object is in the collection of the file.
extension DavPatchProtocol: ParentCollections {
  package var makesParents: Bool { true }

  package func needsParents(_ step: StepRequest) -> Bool { step == .create }
}

/// A profile says by its rules which steps are refused.
extension ProfileProtocol: ParentCollections {
  package var makesParents: Bool { profile.step(.makeParent) != nil }

  package func needsParents(_ step: StepRequest) -> Bool {
    described(step)?.1.rules.contains { $0.action == .makeParents } ?? false
  }
}

extension TransferFacts {
  /// The next collection to create, from the top; nil if none is known to be missing.
  var missingParent: StepRequest? {
    guard let made = parentsMade, made < WebPlace.parentCount(ofKey: file.key) else { return nil }
    return .makeParent(depth: made + 1)
  }
}

extension Interpretation {
  /// Interprets the answer to MKCOL. 405 means that the collection exists. 403 and redirects may mean the same, or not:
  /// the following PUT will show it.
  static func collection(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    switch reply.status {
    case 200..<300, 301, 302, 307, 308, 403, 405: return .settled
    default: return .refused(reply, context)
    }
  }
}
