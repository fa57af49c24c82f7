/// One `--include` or `--exclude`, as given. For the meaning of patterns see `transfers help sources`.
public struct PathRule: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable { case include, exclude }
  public var kind: Kind
  public var pattern: String

  public init(kind: Kind, pattern: String) {
    self.kind = kind
    self.pattern = pattern
  }

  /// `--exclude *.tmp`, as shown to people.
  public var label: String { "--\(kind.rawValue) \(pattern)" }
}
