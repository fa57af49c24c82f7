/// How done files were confirmed, and the findings of later checks.
package struct IntegrityFigures: Sendable, Hashable {
  /// By method: digest, etag, size, none; missing if a file has no receipt, which only happens
  /// in a ledger that was tampered with.
  package var methods: [IntegrityMethod] = []
  /// By the finding of the newest check of a done file.
  package var checks: [IntegrityCheck] = []
  /// Files that failed because the content on the server differs.
  package var mismatched: Int = 0

  package init() {}

  package var done: Int { methods.reduce(0) { $0 + $1.files } }
  package var unverified: Int { methods.filter { !$0.isProof }.reduce(0) { $0 + $1.files } }
  package var oldestMs: Int64? { methods.compactMap(\.oldestMs).min() }
  package var newestMs: Int64? { methods.compactMap(\.newestMs).max() }
  /// Done files whose newest check did not find what was stored.
  package var contradicted: Int { checks.filter { $0.isContradiction }.reduce(0) { $0 + $1.files } }
}

/// Done files that were confirmed in one way. Times are milliseconds since 1970 UTC.
package struct IntegrityMethod: Sendable, Hashable {
  package var method: String
  package var files: Int
  package var bytes: Int64
  /// When the first and the last of them were confirmed.
  package var oldestMs: Int64?
  package var newestMs: Int64?

  package init(method: String, files: Int, bytes: Int64, oldestMs: Int64?, newestMs: Int64?) {
    (self.method, self.files, self.bytes) = (method, files, bytes)
    (self.oldestMs, self.newestMs) = (oldestMs, newestMs)
  }

  /// The server showed more than success.
  package var isProof: Bool { method != "none" && method != "missing" }
}

/// Done files whose newest check found the same.
package struct IntegrityCheck: Sendable, Hashable {
  package var finding: String
  package var files: Int
  /// When the oldest and the newest of these checks were.
  package var oldestMs: Int64
  package var newestMs: Int64

  package init(finding: String, files: Int, oldestMs: Int64, newestMs: Int64) {
    (self.finding, self.files, self.oldestMs, self.newestMs) = (finding, files, oldestMs, newestMs)
  }

  /// The finding about an object that another shard of a merged ledger replaced with other content.
  package static let replaced = "replaced"

  package var isContradiction: Bool { ["lost", "differs", "changed", "missing", Self.replaced].contains(finding) }
}
