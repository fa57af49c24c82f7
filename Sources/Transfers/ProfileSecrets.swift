import TransferEngine
import TransferModel
import TransferProtocols

/// The secret inputs of a profile, read when they are first needed, and again after a server refused them.
final class ProfileSecrets: CredentialSource {
  private let references: [String: SecretReference]
  private let cache = Lock<Credential?>(nil)

  /// - Throws: `.config` for what is no reference.
  init(_ settings: ProfileSettings) throws(TransferError) {
    var references: [String: SecretReference] = [:]
    for (name, text) in settings.secrets {
      guard let reference = SecretReference(text) else {
        throw TransferError(
          .config, "use the profile", NameBytes(settings.name), cause: "the secret \"\(name)\" has no place",
          remedy: "pass --input \(name)=env:NAME or --input \(name)=file:PATH")
      }
      references[name] = reference
    }
    self.references = references
  }

  var label: String {
    references.sorted { $0.key < $1.key }.map { "\($0.key) from \($0.value)" }.joined(separator: ", ")
  }

  func credential() throws(Failure) -> Credential? {
    if let known = cache.withLock({ $0 }) { return known }
    var values: [String: String] = [:]
    for (name, reference) in references { values[name] = try reference.read() }
    let fresh = Credential.inputs(values)
    cache.withLock { $0 = fresh }
    return fresh
  }

  func refresh() { cache.withLock { $0 = nil } }
}

/// Where a secret is, without being one: `env:NAME` or `file:PATH`.
enum SecretReference: Sendable, Hashable, CustomStringConvertible {
  case environment(String)
  case file(String)

  init?(_ text: String) {
    if text.hasPrefix("env:"), text.utf8.count > 4 {
      self = .environment(String(text.dropFirst(4)))
    } else if text.hasPrefix("file:"), text.utf8.count > 5 {
      self = .file(String(text.dropFirst(5)))
    } else {
      return nil
    }
  }

  var description: String {
    switch self {
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    }
  }

  /// - Throws: `auth.missing` when there is no secret of one line.
  func read() throws(Failure) -> String {
    let text: String? =
      switch self {
      case .environment(let name): Environment.value(name)
      case .file(let path): FileText.bytes(path).flatMap { String(validating: $0, as: UTF8.self) }
      }
    let lines = text?.split(whereSeparator: \.isNewline) ?? []
    guard lines.count == 1, let line = lines.first else {
      throw Failure(.authMissing, "no secret of one line found in \(self)")
    }
    return String(line)
  }
}
