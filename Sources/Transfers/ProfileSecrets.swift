import TransferEngine
import TransferModel
import TransferProtocols

/// The secret inputs of a profile, read when they are first needed and again after a server refused them.
final class ProfileSecrets: CredentialSource {
  private let references: [String: SecretReference]
  private let cache = CredentialCache(aheadMs: 0)

  /// - Throws: `.config` for a secret that is not a reference.
  init(_ settings: ProfileSettings) throws(TransferError) {
    var references: [String: SecretReference] = [:]
    for (name, text) in settings.secrets {
      guard let reference = SecretReference(text) else {
        throw TransferError(
          .config, "use the profile", NameBytes(settings.name), cause: "the secret \"\(name)\" has no reference",
          remedy: "pass --input \(name)=env:NAME or --input \(name)=file:PATH")
      }
      references[name] = reference
    }
    self.references = references
  }

  var label: String {
    references.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ", ")
  }

  /// A profile without secret inputs needs no request.
  var held: HeldCredential? { references.isEmpty ? HeldCredential(.inputs([:])) : cache.held }
  func refresh() { cache.forget() }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    try cache.lasting(isOver: isOver) { () throws(Failure) in
      var values: [String: String] = [:]
      for (name, reference) in references { values[name] = try reference.read(isOver: isOver) }
      return .inputs(values)
    }
  }
}
