import TransferEngine
package import TransferModel
import TransferProtocols

/// A scheme and the place of its secret: `bearer=env:NAME`, `basic=file:PATH` and so on (``SecretReference``). The
/// value of a basic secret is `user:password`.
struct CredentialReference: Sendable, Hashable {
  enum Scheme: String, Sendable { case basic, bearer }
  let scheme: Scheme
  let place: SecretReference

  init(_ scheme: Scheme, _ place: SecretReference) {
    self.scheme = scheme
    self.place = place
  }

  init(parsing text: String) throws(TransferError) {
    let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard halves.count == 2, let scheme = Scheme(rawValue: halves[0]) else { throw Self.malformed }
    guard let place = SecretReference(halves[1]) else { throw Self.malformed }
    self.scheme = scheme
    self.place = place
  }

  /// The text as it is stored.
  var text: String { "\(scheme.rawValue)=\(place.text)" }

  /// Does not quote the text, because it might be the secret itself.
  private static var malformed: TransferError {
    TransferError(
      .usage, "read --auth", cause: "it is not a reference to a secret",
      remedy:
        "use bearer= or basic= and \(SecretPlaces.list)")
  }

  var description: String { "\(scheme.rawValue) from \(place)" }
}

/// The places of secrets, for help and errors.
package enum SecretPlaces {
  package static let list = "env:NAME, file:PATH, credential:NAME (systemd) or command:PROGRAM ARGUMENTS"
}

extension BatchSettings {
  /// Whether this can be the ``auth`` of a batch.
  package static func isCredentialReference(_ text: String) -> Bool {
    (try? CredentialReference(parsing: text)) != nil
  }
}

/// Reads a referenced secret when it is first needed, and again after the server refused it as expired. A command is
/// started once for all waiting callers.
final class ReferencedCredential: CredentialSource {
  private let reference: CredentialReference
  private let cache = CredentialCache(aheadMs: 0)

  init(_ reference: CredentialReference) { self.reference = reference }

  /// Includes the arguments of a command, because other arguments may produce another secret.
  var label: String { reference.text }
  var held: HeldCredential? { cache.held }
  func refresh() { cache.forget() }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    try cache.lasting(isOver: isOver) { () throws(Failure) in try read(isOver) }
  }

  private func read(_ isOver: () -> Bool) throws(Failure) -> Credential {
    let value = try reference.place.read(isOver: isOver)
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
