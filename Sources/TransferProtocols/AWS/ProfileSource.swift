import TransferModel

/// Determines how a profile gets its credential, in the order of botocore: a role, web identity, single sign-on, keys
/// (in either file), `credential_process`.
/// Source: botocore 1.44.5, `create_credential_resolver` and `AssumeRoleProvider`.
struct ProfileSource {
  /// Returns a setting of a profile, from either file; nil if it is missing or empty.
  typealias Settings = (_ key: String) -> String?

  /// The settings of each profile; nil for one that does not exist.
  let profile: (_ name: String) -> Settings?
  /// The settings of an `sso-session` section.
  let session: (_ name: String) -> Settings?

  /// nil if the profile does not specify a credential.
  /// - Throws: `.config` for settings that are incomplete or contradictory, or that need a person.
  func source(of name: String) throws(TransferError) -> AWSCredentialSource? {
    try source(of: name, visited: [name])
  }

  private func source(of name: String, visited: [String]) throws(TransferError) -> AWSCredentialSource? {
    guard let settings = profile(name) else { return nil }
    if settings("role_arn") != nil, settings("web_identity_token_file") == nil {
      return try role(name, settings, visited)
    }
    return try ownSource(name, settings)
  }

  /// All sources except a role.
  private func ownSource(_ name: String, _ settings: Settings) throws(TransferError) -> AWSCredentialSource? {
    if let file = settings("web_identity_token_file") {
      guard let arn = settings("role_arn") else { throw Self.fault(name, "it has no role_arn", "add one") }
      return .webIdentity(Self.role(arn, settings), tokenFile: file)
    }
    if settings("sso_account_id") != nil || settings("sso_role_name") != nil {
      return .singleSignOn(try singleSignOn(name, settings))
    }
    if let key = settings("aws_access_key_id"), let secret = settings("aws_secret_access_key") {
      let token = settings("aws_session_token") ?? settings("aws_security_token")
      return .keys(.aws(accessKey: key, secretKey: secret, sessionToken: token))
    }
    if let command = settings("credential_process") {
      guard let words = ShellWords.split(command), !words.isEmpty else {
        throw Self.fault(name, "a quote in credential_process is not closed", "close it")
      }
      return .process(words)
    }
    if settings("login_session") != nil {
      throw Self.fault(
        name, "it uses \"login_session\", which is not supported",
        "set credential_process = aws configure export-credentials --profile \(name)")
    }
    return nil
  }

  // MARK: - Roles

  private func role(
    _ name: String, _ settings: Settings, _ visited: [String]
  ) throws(TransferError) -> AWSCredentialSource {
    if settings("mfa_serial") != nil {
      throw Self.fault(
        name, "its role requires a code from a person (mfa_serial)",
        "set credential_process to a program that has a session, or use a role without it")
    }
    let role = Self.role(settings("role_arn") ?? "", settings)
    switch (settings("source_profile"), settings("credential_source")) {
    case (.some, .some): throw Self.fault(name, "it has source_profile and credential_source", "keep one")
    case (nil, nil): throw Self.fault(name, "it has role_arn alone", "add source_profile or credential_source")
    case (nil, let named?): return .role(role, try Self.named(named, name))
    case (let source?, nil): return .role(role, try sourceProfile(source, of: name, visited))
    }
  }

  /// A profile may name itself: its own keys then assume the role.
  private func sourceProfile(
    _ source: String, of name: String, _ visited: [String]
  ) throws(TransferError) -> AWSCredentialSource {
    guard let settings = profile(source) else {
      throw Self.fault(name, "its source_profile \"\(source)\" does not exist", "correct the name")
    }
    let isItself = source == name
    guard isItself || !visited.contains(source) else {
      throw Self.fault(name, "source_profile is circular at \"\(source)\"", "name a profile with keys")
    }
    let found = isItself ? try ownSource(source, settings) : try self.source(of: source, visited: visited + [source])
    guard let found else {
      throw Self.fault(name, "its source_profile \"\(source)\" has no credential", "add one there")
    }
    return found
  }

  private static func named(_ text: String, _ name: String) throws(TransferError) -> AWSCredentialSource {
    switch text.lowercased() {
    case "environment": return .environment
    case "ec2instancemetadata": return .instance
    case "ecscontainer": return .container
    default:
      throw fault(
        name, "its credential_source is not known", "use Environment, Ec2InstanceMetadata or EcsContainer")
    }
  }

  private static func role(_ arn: String, _ settings: Settings) -> AWSRole {
    AWSRole(
      arn: arn, sessionName: settings("role_session_name"), externalID: settings("external_id"),
      durationSeconds: settings("duration_seconds").flatMap { Int($0) })
  }

  // MARK: - Single sign-on

  private func singleSignOn(_ name: String, _ settings: Settings) throws(TransferError) -> AWSSingleSignOn {
    var session: Settings = { _ in nil }
    if let named = settings("sso_session") {
      guard let found = self.session(named) else {
        throw Self.fault(name, "its sso_session \"\(named)\" does not exist", "add [sso-session \(named)]")
      }
      session = found
    }
    func value(_ key: String) throws(TransferError) -> String {
      let (own, shared) = (settings(key), session(key))
      if let own, let shared, own != shared {
        throw Self.fault(name, "\(key) differs from its sso-session", "keep one")
      }
      guard let value = own ?? shared else { throw Self.fault(name, "it lacks \(key)", "add it") }
      return value
    }
    return AWSSingleSignOn(
      account: try value("sso_account_id"), role: try value("sso_role_name"), region: try value("sso_region"),
      startURL: try value("sso_start_url"), session: settings("sso_session"))
  }

  private static func fault(_ name: String, _ cause: String, _ remedy: String) -> TransferError {
    TransferError(.config, "read AWS profile", NameBytes(name), cause: cause, remedy: remedy)
  }
}
