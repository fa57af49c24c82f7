public import TransferModel
public import TransferProtocols

/// A credential that is known without asking anybody.
public struct HeldCredential: Sendable, Hashable {
  /// nil when the destination asks for none.
  public var credential: Credential?
  /// It still is valid, and a new one should be asked for.
  public var isDue: Bool

  public init(_ credential: Credential?, isDue: Bool = false) {
    (self.credential, self.isDue) = (credential, isDue)
  }
}

/// Gives the secret for one destination, when it needs one. Any thread.
public protocol CredentialSource: AnyObject, Sendable {
  /// What is held and valid; nil where ``credential(isOver:)`` has to ask. Never blocks.
  var held: HeldCredential? { get }
  /// What is held, or else what is asked for now: files, programs, services. Blocking.
  /// - Parameter isOver: asked several times a second whether anybody still waits.
  /// - Throws: `auth.missing` with what was looked for, and with a wait (``Failure/retryAfterMs``) where the same
  ///   question may have an answer later; `engine.interrupted` when nobody waits any more.
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential?
  /// Forgets what is held; the next call asks again.
  func refresh()
  /// Names the secret without being one; connections are never shared between labels.
  var label: String { get }
}

extension CredentialSource {
  public var held: HeldCredential? { nil }
}
