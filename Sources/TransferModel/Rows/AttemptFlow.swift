/// Totals of the attempts of one group (a batch, a host, a day).
package struct AttemptFlow: Sendable, Hashable {
  package var attempts: Int64 = 0
  /// Attempts that ended with retry, fatal, unknown or crashed.
  package var errors: Int64 = 0
  /// Attempts that ended with retry.
  package var retries: Int64 = 0
  package var bytesTransferred: Int64 = 0
  package var bytesAcked: Int64 = 0
  /// Start of the first and end of the last attempt, in milliseconds since 1970 UTC; open attempts have no end.
  package var firstMs: Int64?
  package var lastMs: Int64?
  /// Length of the union of the intervals of attempts that have ended, in milliseconds.
  package var activeMs: Int64 = 0
  /// The times of successful parts.
  package var latency = LatencyFigures()

  package init() {}

  /// Last end minus first start, in milliseconds.
  package var wallMs: Int64? {
    guard let firstMs, let lastMs, lastMs >= firstMs else { return nil }
    return lastMs -| firstMs
  }

  /// Errors per attempt, 0 to 1, rounded to six decimals; nil without attempts.
  package var errorRate: Double? { Share.of(errors, in: attempts) }
}

/// A part of a whole.
package enum Share {
  /// 0 to 1, rounded to six decimals; nil of nothing.
  package static func of(_ part: Int64, in whole: Int64) -> Double? {
    whole > 0 ? (Double(part) / Double(whole) * 1_000_000).rounded() / 1_000_000 : nil
  }
}

/// One batch, with what its attempts did.
package struct BatchHistory: Sendable, Hashable {
  package var batch: BatchRow
  package var host: String
  package var flow: AttemptFlow

  package init(_ batch: BatchRow, host: String, _ flow: AttemptFlow) {
    (self.batch, self.host, self.flow) = (batch, host, flow)
  }
}

/// One host, with what the attempts there did.
package struct HostRow: Sendable, Hashable {
  /// Name and port as they are in the destination or its endpoint.
  package var host: String
  /// Files that had an attempt there.
  package var files: Int
  package var flow: AttemptFlow
  /// Milliseconds from the beginning of a request to its connection; of requests that made one.
  package var connect: LatencyFigures
  /// Milliseconds from the beginning of a request that succeeded to the first byte of the answer.
  package var firstByte: LatencyFigures
  /// Answers by HTTP status.
  package var statuses: [Int64: Int]
  /// Attempts by the version of HTTP.
  package var versions: [String: Int]

  package init(
    host: String, files: Int, flow: AttemptFlow, connect: LatencyFigures, firstByte: LatencyFigures,
    statuses: [Int64: Int], versions: [String: Int]
  ) {
    (self.host, self.files, self.flow) = (host, files, flow)
    (self.connect, self.firstByte, self.statuses, self.versions) = (connect, firstByte, statuses, versions)
  }
}

/// What runs learned about a host, for the next run.
package struct HostLimitRow: Sendable, Hashable {
  /// Scheme, name and port.
  package var host: String
  /// Concurrent requests that increased throughput.
  package var requestsAtOnce: Int
  /// Milliseconds since 1970 UTC.
  package var notedMs: Int64

  package init(host: String, requestsAtOnce: Int, notedMs: Int64) {
    (self.host, self.requestsAtOnce, self.notedMs) = (host, requestsAtOnce, notedMs)
  }
}

/// One thing that a server accepted, according to receipts and answers.
package struct HostAcceptanceRow: Sendable, Hashable {
  /// Name and port as they are in the destination or its endpoint.
  package var host: String
  /// `checksum:crc64nvme`, `etag` or `size`: what it confirmed of done files; `ranges`: answers with part of a file
  /// (206); `resumption`: chunks that were sent or fetched with more than one request.
  package var accepted: String
  package var times: Int64
  /// Milliseconds since 1970 UTC.
  package var firstMs, lastMs: Int64

  package init(host: String, accepted: String, times: Int64, firstMs: Int64, lastMs: Int64) {
    (self.host, self.accepted, self.times) = (host, accepted, times)
    (self.firstMs, self.lastMs) = (firstMs, lastMs)
  }
}
