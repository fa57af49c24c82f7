/// Failures grouped by common properties; a property is nil if it was not requested or is unknown.
package struct FailureGroup: Sendable, Hashable {
  /// Properties to group failures by; raw values are the option values.
  package enum Kind: String, Sendable, CaseIterable {
    case code, host, hour
    case pathPrefix = "path-prefix"
  }

  package var code: String?
  package var host: String?
  /// The hour of the day in UTC when a file ended, or an attempt began.
  package var hour: Int64?
  /// The folder of the source, shortened to the branch directly below the common folder of all failures.
  package var folder: NameBytes?
  /// Files that ended without success.
  package var files: Int64 = 0
  /// Failed attempts, independent of the outcome of their files.
  package var attempts: Int64 = 0
  package var firstMs: Int64?
  package var lastMs: Int64?
  /// A file that ended without success, or otherwise one with only failed attempts.
  package var examplePath: NameBytes?

  package init() {}
}

/// The subject of facets.
package enum FacetSubject: Sendable, Hashable {
  case files, attempts
  /// Files that ended without success, and attempts that failed.
  case failures
}

/// The count of one combination of facet values.
package struct FacetTally: Sendable, Hashable {
  package var batch: BatchID
  package var host: String
  package var direction: Direction
  /// Of the file.
  package var state: String
  /// The cause of a file, or the error of an attempt.
  package var errorCode: String?
  package var files: Int64 = 0
  package var attempts: Int64 = 0

  package init(batch: BatchID, host: String, direction: Direction, state: String, errorCode: String?) {
    (self.batch, self.host, self.direction) = (batch, host, direction)
    (self.state, self.errorCode) = (state, errorCode)
  }
}
