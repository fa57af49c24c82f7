/// Totals of the attempts of one group (a batch, a host, a day).
public struct AttemptFlow: Sendable, Hashable {
  public var attempts: Int64 = 0
  /// Attempts that ended with retry, fatal, unknown or crashed.
  public var errors: Int64 = 0
  /// Attempts that ended with retry.
  public var retries: Int64 = 0
  public var bytesTransferred: Int64 = 0
  public var bytesAcked: Int64 = 0
  /// Start of the first and end of the last attempt, in milliseconds since 1970 UTC; open attempts have no end.
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// Length of the union of the intervals of attempts that have ended, in milliseconds.
  public var activeMs: Int64 = 0
  /// The times of successful parts.
  public var latency = LatencyFigures()

  public init() {}

  /// Last end minus first start, in milliseconds.
  public var wallMs: Int64? {
    guard let firstMs, let lastMs, lastMs >= firstMs else { return nil }
    return lastMs -| firstMs
  }

  /// Errors per attempt, 0 to 1, rounded to six decimals; nil without attempts.
  public var errorRate: Double? { Share.of(errors, in: attempts) }
}

/// A part of a whole.
public enum Share {
  /// 0 to 1, rounded to six decimals; nil of nothing.
  public static func of(_ part: Int64, in whole: Int64) -> Double? {
    whole > 0 ? (Double(part) / Double(whole) * 1_000_000).rounded() / 1_000_000 : nil
  }
}

/// One batch, with what its attempts did.
public struct BatchHistory: Sendable, Hashable {
  public var batch: BatchRow
  public var host: String
  public var flow: AttemptFlow

  package init(_ batch: BatchRow, host: String, _ flow: AttemptFlow) {
    (self.batch, self.host, self.flow) = (batch, host, flow)
  }
}

/// One host, with what the attempts there did.
public struct HostRow: Sendable, Hashable {
  /// Name and port as they are in the destination or its endpoint.
  public var host: String
  /// Files that had an attempt there.
  public var files: Int
  public var flow: AttemptFlow
  /// Milliseconds from the beginning of a request to its connection; of requests that made one.
  public var connect: LatencyFigures
  /// Milliseconds from the beginning of a request that succeeded to the first byte of the answer.
  public var firstByte: LatencyFigures
  /// Answers by HTTP status.
  public var statuses: [Int64: Int]
  /// Attempts by the version of HTTP.
  public var versions: [String: Int]

  package init(
    host: String, files: Int, flow: AttemptFlow, connect: LatencyFigures, firstByte: LatencyFigures,
    statuses: [Int64: Int], versions: [String: Int]
  ) {
    (self.host, self.files, self.flow) = (host, files, flow)
    (self.connect, self.firstByte, self.statuses, self.versions) = (connect, firstByte, statuses, versions)
  }
}

/// What runs learned about a host, for the next run.
public struct HostLimitRow: Sendable, Hashable {
  /// Scheme, name and port.
  public var host: String
  /// Concurrent requests that increased throughput.
  public var requestsAtOnce: Int
  /// Milliseconds since 1970 UTC.
  public var notedMs: Int64

  package init(host: String, requestsAtOnce: Int, notedMs: Int64) {
    (self.host, self.requestsAtOnce, self.notedMs) = (host, requestsAtOnce, notedMs)
  }
}

/// One thing that a server accepted, according to receipts and answers.
public struct HostAcceptanceRow: Sendable, Hashable {
  /// Name and port as they are in the destination or its endpoint.
  public var host: String
  /// `checksum:crc64nvme`, `etag` or `size`: what it confirmed of done files; `ranges`: answers with part of a file
  /// (206); `resumption`: chunks that were sent or fetched with more than one request.
  public var accepted: String
  public var times: Int64
  /// Milliseconds since 1970 UTC.
  public var firstMs, lastMs: Int64

  package init(host: String, accepted: String, times: Int64, firstMs: Int64, lastMs: Int64) {
    (self.host, self.accepted, self.times) = (host, accepted, times)
    (self.firstMs, self.lastMs) = (firstMs, lastMs)
  }
}
