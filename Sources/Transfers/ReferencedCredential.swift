import TransferEngine
import TransferModel
import TransferProtocols

/// Where a secret is, without being one: `basic=env:NAME`, `basic=file:PATH`, `bearer=env:NAME`, `bearer=file:PATH`.
/// The value of a basic secret is `user:password`.
struct CredentialReference: Sendable, Hashable {
  enum Scheme: String, Sendable { case basic, bearer }
  enum Place: Sendable, Hashable {
    case environment(String)
    case file(String)
  }
  let scheme: Scheme
  let place: Place

  init(parsing text: String) throws(TransferError) {
    let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard halves.count == 2, let scheme = Scheme(rawValue: halves[0]) else { throw Self.malformed }
    self.scheme = scheme
    if halves[1].hasPrefix("env:"), halves[1].count > 4 {
      place = .environment(String(halves[1].dropFirst(4)))
    } else if halves[1].hasPrefix("file:"), halves[1].count > 5 {
      place = .file(String(halves[1].dropFirst(5)))
    } else {
      throw Self.malformed
    }
  }

  /// The text is not repeated: somebody may have put the secret itself there.
  private static var malformed: TransferError {
    TransferError(
      .usage, "read --auth", cause: "it is not a reference to a secret",
      remedy: "use basic=env:NAME, basic=file:PATH, bearer=env:NAME or bearer=file:PATH")
  }

  var description: String {
    switch place {
    case .environment(let name): "\(scheme.rawValue) from the environment variable \(name)"
    case .file(let path): "\(scheme.rawValue) from the file \(path)"
    }
  }
}

/// Reads a referenced secret when it is first needed, and again after the server refused it as expired.
final class ReferencedCredential: CredentialSource {
  private let reference: CredentialReference
  private let cache = Lock<Credential?>(nil)

  init(_ reference: CredentialReference) { self.reference = reference }

  var label: String { reference.description }

  func credential() throws(Failure) -> Credential? {
    if let known = cache.withLock({ $0 }) { return known }
    let fresh = try read()
    cache.withLock { $0 = fresh }
    return fresh
  }

  func refresh() { cache.withLock { $0 = nil } }

  private func read() throws(Failure) -> Credential {
    let text: String? =
      switch reference.place {
      case .environment(let name): Environment.value(name)
      case .file(let path): FileText.bytes(path).flatMap { String(validating: $0, as: UTF8.self) }
      }
    let lines = text?.split(whereSeparator: \.isNewline) ?? []
    guard lines.count == 1, let value = lines.first.map(String.init) else {
      throw Failure(.authMissing, "no secret of one line found: \(reference.description)")
    }
    switch reference.scheme {
    case .bearer: return .bearer(token: value)
    case .basic:
      guard let colon = value.firstIndex(of: ":") else {
        throw Failure(.authMissing, "the secret has no colon between user and password: \(reference.description)")
      }
      return .basic(user: String(value[..<colon]), password: String(value[value.index(after: colon)...]))
    }
  }
}
