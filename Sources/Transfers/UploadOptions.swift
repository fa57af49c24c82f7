public import TransferModel

/// What one `add` or `push` was asked to do.
public struct UploadOptions: Sendable {
  public var storePath: String
  public var settings: BatchSettings
  public var name: String?
  public var labels: [String: String]
  public var priority: Int
  /// Include and exclude rules in the order given; the first that matches decides.
  public var rules: [PathRule]
  public var followSymlinks: Bool

  public init(
    storePath: String, settings: BatchSettings, name: String? = nil, labels: [String: String] = [:],
    priority: Int = 0, rules: [PathRule] = [], followSymlinks: Bool = false
  ) {
    self.storePath = storePath
    self.settings = settings
    self.name = name
    self.labels = labels
    self.priority = priority
    self.rules = rules
    self.followSymlinks = followSymlinks
  }
}

public struct PathRule: Sendable, Hashable {
  public enum Kind: Sendable, Hashable { case include, exclude }
  public var kind: Kind
  public var pattern: String

  public init(kind: Kind, pattern: String) {
    self.kind = kind
    self.pattern = pattern
  }
}
