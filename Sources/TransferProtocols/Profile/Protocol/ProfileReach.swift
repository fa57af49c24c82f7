import TransferModel

/// Where a profile may send requests, besides its destination.
public struct ProfileReach: Sendable, Hashable {
  var allowed: AllowedHosts
  /// A built-in profile: its servers may name other servers, from https to https and without credentials.
  var isBuiltin: Bool
  /// Inputs that were given by reference.
  var referenced: Set<String>

  public init(allowed: AllowedHosts? = nil, isBuiltin: Bool = false, referenced: Set<String> = []) {
    self.allowed = allowed ?? .none
    self.isBuiltin = isBuiltin
    self.referenced = referenced
  }
}
