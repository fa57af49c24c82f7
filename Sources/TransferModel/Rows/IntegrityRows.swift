/// How done files were confirmed, and the findings of later checks.
public struct IntegrityFigures: Sendable, Hashable {
  /// By method: digest, etag, size, none; missing if a file has no receipt, which only happens
  /// in a ledger that was tampered with.
  public var methods: [IntegrityMethod] = []
  /// By the finding of the newest check of a done file.
  public var checks: [IntegrityCheck] = []
  /// Files that failed because the content on the server differs.
  public var mismatched: Int = 0

  package init() {}

  public var done: Int { methods.reduce(0) { $0 + $1.files } }
  public var unverified: Int { methods.filter { !$0.isProof }.reduce(0) { $0 + $1.files } }
  public var oldestMs: Int64? { methods.compactMap(\.oldestMs).min() }
  public var newestMs: Int64? { methods.compactMap(\.newestMs).max() }
  /// Done files whose newest check did not find what was stored.
  public var contradicted: Int { checks.filter { $0.isContradiction }.reduce(0) { $0 + $1.files } }
}

/// Done files that were confirmed in one way. Times are milliseconds since 1970 UTC.
public struct IntegrityMethod: Sendable, Hashable {
  public var method: String
  public var files: Int
  public var bytes: Int64
  /// When the first and the last of them were confirmed.
  public var oldestMs: Int64?
  public var newestMs: Int64?

  package init(method: String, files: Int, bytes: Int64, oldestMs: Int64?, newestMs: Int64?) {
    (self.method, self.files, self.bytes) = (method, files, bytes)
    (self.oldestMs, self.newestMs) = (oldestMs, newestMs)
  }

  /// The server showed more than success.
  public var isProof: Bool { method != "none" && method != "missing" }
}

/// Done files whose newest check found the same.
public struct IntegrityCheck: Sendable, Hashable {
  public var finding: String
  public var files: Int
  /// When the oldest and the newest of these checks were.
  public var oldestMs: Int64
  public var newestMs: Int64

  package init(finding: String, files: Int, oldestMs: Int64, newestMs: Int64) {
    (self.finding, self.files, self.oldestMs, self.newestMs) = (finding, files, oldestMs, newestMs)
  }

  public var isContradiction: Bool { ["lost", "differs", "changed", "missing"].contains(finding) }
}
