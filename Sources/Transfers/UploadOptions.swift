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
  /// A list of files instead of named sources.
  public var list: SourceList?
  /// The folder that keys are relative to; nil takes the one that all named sources share, or for a list the working
  /// directory.
  public var base: NameBytes?

  public init(
    storePath: String, settings: BatchSettings, name: String? = nil, labels: [String: String] = [:],
    priority: Int = 0, rules: [PathRule] = [], followSymlinks: Bool = false, list: SourceList? = nil,
    base: NameBytes? = nil
  ) {
    self.list = list
    self.base = base
    self.storePath = storePath
    self.settings = settings
    self.name = name
    self.labels = labels
    self.priority = priority
    self.rules = rules
    self.followSymlinks = followSymlinks
  }
}

/// A list of file names, one after the other.
public struct SourceList: Sendable, Hashable {
  /// nil for standard input.
  public var path: NameBytes?
  /// Names are separated by NUL; else by newline.
  public var isNULSeparated: Bool
  /// What is not there is recorded as failed; without it the whole list is refused before anything is recorded.
  public var skipsMissing: Bool

  public init(path: NameBytes?, isNULSeparated: Bool = false, skipsMissing: Bool = false) {
    self.path = path
    self.isNULSeparated = isNULSeparated
    self.skipsMissing = skipsMissing
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
