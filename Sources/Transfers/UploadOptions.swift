import TransferEngine
public import TransferModel

/// What one `add` is to record, beside its sources.
public struct UploadOptions: Sendable {
  public var settings: BatchSettings
  public var name: String?
  public var labels: [String: String]
  public var priority: Int
  /// Include and exclude rules in the order given; the first that matches decides.
  public var rules: [PathRule]
  public var followSymlinks: Bool
  /// A list of files instead of named sources.
  public var list: FileList?
  /// The folder that keys are relative to; nil takes the one that all named sources share, or for a list the working
  /// directory.
  public var base: NameBytes?

  public init(
    settings: BatchSettings, name: String? = nil, labels: [String: String] = [:],
    priority: Int = 0, rules: [PathRule] = [], followSymlinks: Bool = false, list: FileList? = nil,
    base: NameBytes? = nil
  ) {
    self.list = list
    self.base = base
    self.settings = settings
    self.name = name
    self.labels = labels
    self.priority = priority
    self.rules = rules
    self.followSymlinks = followSymlinks
  }
}

extension UploadOptions {
  func selection(_ sources: [NameBytes]) -> SourceSelection {
    SourceSelection(sources, list: list, base: base, rules: PathRules(rules), followsSymlinks: followSymlinks)
  }
}
