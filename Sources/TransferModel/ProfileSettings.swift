/// The profile of a batch, frozen at `add`: later edits of its file do not affect the batch.
public struct ProfileSettings: Sendable, Hashable, Codable {
  public var name: String
  /// The whole profile, as its canonical text.
  public var text: String
  /// Values of inputs that were given literally, by name.
  public var inputs: [String: String]
  /// References of inputs that were given by reference, including all secret ones: `env:NAME` or `file:PATH`. Never
  /// their values.
  public var secrets: [String: String]
  /// True for a built-in profile, which may follow URLs sent by its server. nil for a file.
  public var isBuiltin: Bool?

  public init(
    name: String, text: String, inputs: [String: String] = [:], secrets: [String: String] = [:],
    isBuiltin: Bool? = nil
  ) {
    self.name = name
    self.text = text
    self.inputs = inputs
    self.secrets = secrets
    self.isBuiltin = isBuiltin
  }
}
