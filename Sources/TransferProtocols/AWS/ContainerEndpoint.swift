/// The URL from which a container gets its credential, according to the variables that ECS and EKS set.
/// Source: AWS SDKs and Tools Reference Guide, "Container credential provider".
public enum ContainerEndpoint {
  /// The URL; nil if neither variable is set.
  ///
  /// Credentials are sent over plain HTTP only to this machine and to the addresses of ECS and EKS.
  /// - Throws: for a URL that points elsewhere, and for an invalid one.
  public static func url(relative: String?, full: String?) throws(CredentialFault) -> String? {
    if let relative {
      guard relative.hasPrefix("/") else { throw fault("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI has no leading slash") }
      return "http://169.254.170.2\(relative)"
    }
    guard let full else { return nil }
    let isTLS = full.hasPrefix("https://")
    guard isTLS || full.hasPrefix("http://") else { throw fault("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL") }
    let authority = full.dropFirst(isTLS ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
    guard let origin = try? WebOrigin(isTLS: isTLS, authority: authority) else {
      throw fault("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL")
    }
    guard isTLS || addresses.contains(origin.host) || isOfThisMachine(origin) else {
      throw fault("AWS_CONTAINER_CREDENTIALS_FULL_URI is plain HTTP to another machine")
    }
    return full
  }

  private static let addresses: Set = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]

  public static func isOfThisMachine(_ origin: WebOrigin) -> Bool {
    if origin.host == "localhost" || origin.host == "[::1]" { return true }
    let parts = origin.host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func fault(_ cause: String) -> CredentialFault { CredentialFault(cause) }
}
