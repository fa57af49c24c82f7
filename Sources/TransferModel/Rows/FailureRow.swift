/// One kind of failure with its totals.
public struct FailureRow: Sendable, Hashable {
  public var code: String
  public var category: String
  /// What can be done about it.
  public var hint: String
  /// Files that ended for this reason, or whose copies (`--stage`) could not be made yet.
  public var files: Int64
  /// Attempts that failed for this reason, independent of the outcome of their files.
  public var attempts: Int64
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// A file that ended for this reason, or otherwise one with only failed attempts.
  public var examplePath: NameBytes?
  public var exampleMessage: String?
  /// The host of that file; other files may have other hosts.
  public var exampleHost: String?

  package init(
    code: String, category: String, hint: String, files: Int64, attempts: Int64, firstMs: Int64?, lastMs: Int64?,
    examplePath: NameBytes?, exampleMessage: String?, exampleHost: String? = nil
  ) {
    self.code = code
    self.category = category
    self.hint = hint
    self.files = files
    self.attempts = attempts
    self.firstMs = firstMs
    self.lastMs = lastMs
    self.examplePath = examplePath
    self.exampleMessage = exampleMessage
    self.exampleHost = exampleHost
  }
}
