/// The profile of a batch, frozen at `add`: later edits of a file change nothing that runs.
public struct ProfileSettings: Sendable, Hashable, Codable {
  public var name: String
  /// The whole profile, as its canonical text.
  public var text: String
  /// Values of inputs that were given as they are, by name.
  public var inputs: [String: String]
  /// Where inputs are that were given by reference, and all secret ones: `env:NAME` or `file:PATH`. Never what is
  /// there.
  public var secrets: [String: String]
  /// It is one of the program's own: these may follow URLs that their servers name. nil for a file.
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
