import TransferModel

/// The inputs of a profile as a batch has them.
struct ProfileInputs {
  let profile: Profile
  let frozen: ProfileSettings

  /// The inputs with literal values, and defaults.
  func literals() throws(TransferError) -> [String: String] {
    var values: [String: String] = [:]
    for input in profile.inputs where !input.isSecret && frozen.secrets[input.name] == nil {
      guard let value = frozen.inputs[input.name] ?? input.byDefault else {
        if input.isRequired { throw missing(input) }
        continue
      }
      values[input.name] = value
    }
    for input in profile.inputs where input.isSecret && input.isRequired && frozen.secrets[input.name] == nil {
      throw missing(input)
    }
    return values
  }

  private func missing(_ input: ProfileInput) -> TransferError {
    let value = input.isSecret ? "env:NAME or file:PATH" : "VALUE"
    return TransferError(
      .usage, "use the profile", NameBytes(frozen.name), cause: "its input \"\(input.name)\" is missing",
      remedy: "pass --input \(input.name)=\(value)")
  }
}
