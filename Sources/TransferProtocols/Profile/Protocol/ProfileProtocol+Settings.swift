import StrictYAML
public import TransferModel

extension ProfileProtocol {
  /// The protocol of a batch, from its frozen settings.
  /// - Throws: `.config` for an invalid profile, `.usage` for settings that do not fit it.
  public init(_ settings: BatchSettings) throws(TransferError) {
    guard let frozen = settings.profile else {
      throw TransferError(.bug, "read the profile of a batch", cause: "it has none")
    }
    let profile: Profile
    do throws(ProfileFaults) {
      profile = try Profile.read(Array(frozen.text.utf8), file: frozen.name)
    } catch {
      throw error.transferError
    }
    if settings.ifNoneMatch || settings.auth != nil || settings.expectContinue {
      throw TransferError(
        .usage, "use the profile", NameBytes(frozen.name),
        cause: "--if-none-match, --auth and --expect-continue do not apply to profiles",
        remedy: "a profile defines its requests; give it secrets with --input")
    }
    try self.init(
      profile: profile, url: settings.destination, inputs: try Self.values(profile, frozen),
      references: frozen.secrets, partSize: settings.partSize,
      reach: ProfileReach(
        allowed: try AllowedHosts(settings.allowedHosts ?? []), isBuiltin: frozen.isBuiltin ?? false,
        referenced: Set(frozen.secrets.keys)))
    try refuseForeignHosts()
  }

  /// The inputs with literal values, and defaults.
  private static func values(
    _ profile: Profile, _ frozen: ProfileSettings
  ) throws(TransferError) -> [String: String] {
    var values: [String: String] = [:]
    for input in profile.inputs where !input.isSecret && frozen.secrets[input.name] == nil {
      guard let value = frozen.inputs[input.name] ?? input.byDefault else {
        if input.isRequired { throw missing(input, frozen) }
        continue
      }
      values[input.name] = value
    }
    for input in profile.inputs where input.isSecret && input.isRequired && frozen.secrets[input.name] == nil {
      throw missing(input, frozen)
    }
    return values
  }

  private static func missing(_ input: ProfileInput, _ frozen: ProfileSettings) -> TransferError {
    let value = input.isSecret ? "env:NAME or file:PATH" : "VALUE"
    return TransferError(
      .usage, "use the profile", NameBytes(frozen.name), cause: "its input \"\(input.name)\" is missing",
      remedy: "pass --input \(input.name)=\(value)")
  }
}

extension ProfileFaults {
  /// In one line: the first fault, and the number of others.
  public var transferError: TransferError {
    guard let first = faults.first else {
      return TransferError(.bug, "read profile", NameBytes(file), cause: "no fault")
    }
    let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
    return TransferError(
      .config, "read profile", NameBytes(file),
      cause: "line \(first.mark.line), column \(first.mark.column): \(first.message)\(more)",
      remedy: "\"transfers profile check\" shows all of it")
  }
}
