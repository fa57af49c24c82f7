/// Failures grouped by common properties; a property is nil if it was not requested or is unknown.
public struct FailureGroup: Sendable, Hashable {
  /// Properties to group failures by; raw values are the option values.
  public enum Kind: String, Sendable, CaseIterable {
    case code, host, hour
    case pathPrefix = "path-prefix"
  }

  public var code: String?
  public var host: String?
  /// The hour of the day in UTC when a file ended, or an attempt began.
  public var hour: Int64?
  /// The folder of the source, shortened to the branch directly below the common folder of all failures.
  public var folder: NameBytes?
  /// Files that ended without success.
  public var files: Int64 = 0
  /// Failed attempts, independent of the outcome of their files.
  public var attempts: Int64 = 0
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// A file that ended without success, or otherwise one with only failed attempts.
  public var examplePath: NameBytes?

  public init() {}
}

/// The subject of facets.
public enum FacetSubject: Sendable, Hashable {
  case files, attempts
  /// Files that ended without success, and attempts that failed.
  case failures
}

/// The count of one combination of facet values.
public struct FacetTally: Sendable, Hashable {
  public var batch: BatchID
  public var host: String
  public var direction: Direction
  /// Of the file.
  public var state: String
  /// The cause of a file, or the error of an attempt.
  public var errorCode: String?
  public var files: Int64 = 0
  public var attempts: Int64 = 0

  public init(batch: BatchID, host: String, direction: Direction, state: String, errorCode: String?) {
    (self.batch, self.host, self.direction) = (batch, host, direction)
    (self.state, self.errorCode) = (state, errorCode)
  }
}
