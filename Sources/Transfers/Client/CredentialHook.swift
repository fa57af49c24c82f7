import TransferModel
import TransferProtocols

/// Supplies the credential for a destination, from wherever the program keeps it. It is called when a credential is
/// first needed, when the last one is no longer valid, and after a server refused it; in between the engine keeps the
/// credential only in memory. If it returns `nil`, the credential recorded with the batches of the destination is used.
/// If several requests need it at the same time, it is called once. The files of the destination wait for the result;
/// when the hook throws, they wait for another run.
public typealias CredentialHook = @Sendable (CredentialRequest) async throws -> SuppliedCredential?

/// The request to a ``CredentialHook``.
public struct CredentialRequest: Sendable, Hashable {
  public enum Reason: Sendable, Hashable {
    case first
    /// The last one has expired.
    case expired
    /// A server refused the last one.
    case refused
  }

  /// The kind of credential that the destination accepts.
  public enum Kind: Sendable, Hashable {
    /// ``SuppliedCredential/basic(user:password:)`` or ``SuppliedCredential/bearer(token:)``.
    case http
    /// ``SuppliedCredential/aws(accessKey:secretKey:sessionToken:)``.
    case aws
    /// ``SuppliedCredential/inputs(_:)``: the secret inputs of a profile, by these names.
    case inputs([String])
  }

  /// As it was given to `add`.
  public var destination: String
  public var kind: Kind
  public var reason: Reason
}

/// A credential passed to the library. It is not printed, compared or stored.
public struct SuppliedCredential: Sendable, CustomStringConvertible, CustomReflectable {
  let credential: Credential
  /// The hook is called again after this time; nil to use the credential as long as servers accept it.
  var validFor: Duration?

  public static func basic(user: String, password: String) -> SuppliedCredential {
    SuppliedCredential(credential: .basic(user: user, password: password))
  }

  public static func bearer(token: String) -> SuppliedCredential {
    SuppliedCredential(credential: .bearer(token: token))
  }

  public static func aws(accessKey: String, secretKey: String, sessionToken: String? = nil) -> SuppliedCredential {
    SuppliedCredential(credential: .aws(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken))
  }

  public static func inputs(_ values: [String: String]) -> SuppliedCredential {
    SuppliedCredential(credential: .inputs(values))
  }

  /// The same credential; the hook is called again after this time.
  public func valid(for duration: Duration) -> SuppliedCredential {
    SuppliedCredential(credential: credential, validFor: duration)
  }

  public var description: String { credential.description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }

  fileprivate func fits(_ kind: CredentialRequest.Kind) -> Bool {
    switch (credential, kind) {
    case (.basic, .http), (.bearer, .http), (.aws, .aws), (.inputs, .inputs): true
    default: false
    }
  }
}

extension CredentialRequest {
  /// - Throws: `auth.missing` for a credential of another kind.
  func checked(_ supplied: SuppliedCredential) throws(Failure) -> Credential {
    guard supplied.fits(kind) else {
      throw Failure(.authMissing, "the program returned a credential of a kind that the destination does not accept")
    }
    return supplied.credential
  }
}
