/// The profile of a batch, frozen at `add`: later edits of a file change nothing that runs.
public struct ProfileSettings: Sendable, Hashable, Codable {
  public var name: String
  /// The whole profile, as its canonical text.
  public var text: String
  /// Values of inputs that are no secrets, by name.
  public var inputs: [String: String]
  /// Where secret inputs are, by name: `env:NAME` or `file:PATH`. Never the secrets themselves.
  public var secrets: [String: String]

  public init(name: String, text: String, inputs: [String: String] = [:], secrets: [String: String] = [:]) {
    self.name = name
    self.text = text
    self.inputs = inputs
    self.secrets = secrets
  }
}
