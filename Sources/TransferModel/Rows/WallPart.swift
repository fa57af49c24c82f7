/// One of the nine parts of wall time. Requests may run concurrently, so each moment counts once: for the first of
/// these that is true of any of them.
package enum WallPart: Int, Sendable, CaseIterable {
  /// Body bytes were being sent, or received in a download.
  case send
  /// The request was sent and the server had not answered.
  case server
  /// The name, the TCP connection, the TLS handshake.
  case connect
  /// The server was queried about the content.
  case verify
  /// It was in backoff after a failure.
  case backoff
  /// Our own rate limit delayed a body, or its host had requested a wait.
  case throttled
  /// It waited for a person: paused, or ended until somebody retried it.
  case paused
  /// An engine ran, but did other work first.
  case queued
  /// No engine ran, or the machine was asleep.
  case down

  /// The name in output.
  package func name(isDownload: Bool) -> String { self == .send && isDownload ? "receive" : "\(self)" }

  /// In the order of a file's life.
  package static let inOrder: [WallPart] = [
    .queued, .down, .paused, .backoff, .throttled, .connect, .send, .server, .verify,
  ]
}

/// Milliseconds of wall time by part. Their sum is the wall time.
package struct WallParts: Sendable, Hashable {
  private var ms: [Int64]

  package init() { ms = Array(repeating: 0, count: WallPart.allCases.count) }

  package subscript(part: WallPart) -> Int64 {
    get { ms[part.rawValue] }
    set { ms[part.rawValue] = newValue }
  }

  package var totalMs: Int64 { ms.reduce(0, +|) }

  /// The part with more than half of the time; nil if there is none.
  package var cause: WallPart? { WallPart.allCases.first { self[$0] > totalMs -| self[$0] } }

  package mutating func add(_ other: WallParts) {
    for part in WallPart.allCases { self[part] +|= other[part] }
  }
}
