/// One of the nine parts of wall time. Several requests may run at a time, so each moment counts once: for the first of
/// these that is true of any of them.
public enum WallPart: Int, Sendable, CaseIterable {
  /// Body bytes were on their way: of a download, they were received.
  case send
  /// The request was out and the server had not answered.
  case server
  /// The name, the TCP connection, the TLS handshake.
  case connect
  /// The server was asked whether the content is right.
  case verify
  /// It waited after a failure, until a time that was chosen.
  case backoff
  /// A rate limit of ours held a body back, or its host had asked us to wait.
  case throttled
  /// It waited for a person: paused, or at rest until somebody retried it.
  case paused
  /// An engine ran, and had other things to do first.
  case queued
  /// No engine ran, or the machine was asleep.
  case down

  /// As people and programs read it.
  public func name(isDownload: Bool) -> String { self == .send && isDownload ? "receive" : "\(self)" }

  /// In the order of a file's life.
  public static let inOrder: [WallPart] = [
    .queued, .down, .paused, .backoff, .throttled, .connect, .send, .server, .verify,
  ]
}

/// Milliseconds of wall time by part. Their sum is the wall time.
public struct WallParts: Sendable, Hashable {
  private var ms: [Int64]

  public init() { ms = Array(repeating: 0, count: WallPart.allCases.count) }

  public subscript(part: WallPart) -> Int64 {
    get { ms[part.rawValue] }
    set { ms[part.rawValue] = newValue }
  }

  public var totalMs: Int64 { ms.reduce(0, +|) }

  /// The part with more than half of the time; nil when none has it, and without any time.
  public var cause: WallPart? { WallPart.allCases.first { self[$0] > totalMs -| self[$0] } }

  package mutating func add(_ other: WallParts) {
    for part in WallPart.allCases { self[part] +|= other[part] }
  }
}
