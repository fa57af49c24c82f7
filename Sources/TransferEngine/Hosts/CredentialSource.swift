public import TransferModel
public import TransferProtocols

/// A cached credential.
public struct HeldCredential: Sendable, Hashable {
  /// nil if the destination needs none.
  public var credential: Credential?
  /// It is still valid, but should be renewed.
  public var isDue: Bool

  public init(_ credential: Credential?, isDue: Bool = false) {
    (self.credential, self.isDue) = (credential, isDue)
  }
}

/// Supplies the secret for one destination, if it needs one. Any thread.
public protocol CredentialSource: AnyObject, Sendable {
  /// The cached, valid credential; nil if ``credential(isOver:)`` has to obtain one. Never blocks.
  var held: HeldCredential? { get }
  /// The cached credential, or a new one from files, programs or services. Blocking.
  /// - Parameter isOver: polled several times a second; returns true once the caller no longer needs the credential.
  /// - Throws: `auth.missing` with the places that were searched, and with a wait (``Failure/retryAfterMs``) if the
  ///   same query may succeed later; `engine.interrupted` if `isOver` returned true.
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential?
  /// Discards the cached credential; the next call obtains a new one.
  func refresh()
  /// Identifies the secret without revealing it; connections are never shared between labels.
  var label: String { get }
}

extension CredentialSource {
  public var held: HeldCredential? { nil }
}
