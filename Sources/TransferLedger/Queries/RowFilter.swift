public import TransferModel

/// Which rows a reader wants. Ids of files and batches add up; states, errors and times narrow the result. Empty means
/// everything.
///
/// In SQL it is five parameters and, for a file `f`, always this condition:
///
///     f.id BETWEEN ?1 AND ?2
///     AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(?3) r
///       WHERE CASE r.value ->> 0 WHEN 'f' THEN f.id ELSE f.batch_id END BETWEEN r.value ->> 1 AND r.value ->> 2))
///     AND (?4 IS NULL OR f.state IN (SELECT value FROM json_each(?4)))
///     AND (?5 IS NULL OR f.cause GLOB ?5)
///
/// The bounds are there so that one file is found without looking at all of them.
public struct RowFilter: Sendable, Hashable {
  /// Numbers of files, both ends included.
  public var files: [ClosedRange<Int64>] = []
  /// Numbers of batches, both ends included.
  public var batches: [ClosedRange<Int64>] = []
  public var states: [FileState] = []
  /// A GLOB over error codes: `net.*`.
  public var error: String?
  /// For failures: only files that ended at this time or later, in milliseconds since 1970 UTC.
  public var finishedSinceMs: Int64?

  public init() {}
}

extension RowFilter {
  /// ?1
  var lowest: SQLValue { .integer(batches.isEmpty ? files.map(\.lowerBound).min() ?? 0 : 0) }
  /// ?2
  var highest: SQLValue { .integer(batches.isEmpty ? files.map(\.upperBound).max() ?? .max : .max) }

  /// ?3: `[["f",1,3],["b",2,2]]`
  var ranges: SQLValue {
    let parts =
      files.map { "[\"f\",\($0.lowerBound),\($0.upperBound)]" }
      + batches.map { "[\"b\",\($0.lowerBound),\($0.upperBound)]" }
    return parts.isEmpty ? .null : .text("[" + parts.joined(separator: ",") + "]")
  }

  /// ?4: `["failed","unknown"]`
  var stateNames: SQLValue {
    states.isEmpty ? .null : .text("[" + states.map { "\"\($0.rawValue)\"" }.joined(separator: ",") + "]")
  }

  /// ?5
  var errorGlob: SQLValue { .string(error) }
}
