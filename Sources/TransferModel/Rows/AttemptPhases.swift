/// One attempt divided into phases, one after the other, none before the attempt began. The time before its request was
/// begun is in none: it waited for a connection, or for its source to be read.
package struct AttemptPhases {
  /// At most five: connect, send, throttled, server, in an order that depends on the direction.
  package private(set) var phases: [(part: WallPart, span: TimeSpan)] = []
  /// When it ended, as far as known.
  package let endMs: Int64
  private var nextMs: Int64

  /// The ledger has the length of the request and the time at which its end was recorded, so the request is aligned
  /// with that time.
  /// - Parameter lastMs: the end to assume if it is unknown, because the engine crashed or the attempt is still
  ///   running.
  package init(_ attempt: AttemptTrace, lastMs: Int64) {
    let seenMs = attempt.outcome == .crashed ? nil : attempt.endedMs
    let end = max(attempt.startedMs, seenMs ?? lastMs)
    let beganMs = attempt.totalMs.map { max(attempt.startedMs, end -| max(0, $0)) } ?? attempt.startedMs
    (endMs, nextMs) = (end, beganMs)
    guard seenMs == nil || Self.hasBegun(attempt) else { return }
    add(.connect, until: Self.failedToConnect(attempt) ? endMs : beganMs +| (attempt.connectMs ?? 0))
    if attempt.operation == .verify {
      add(.verify, until: endMs)
    } else if attempt.isDownload {
      receive(attempt, beganMs)
    } else {
      send(attempt, beganMs)
    }
  }

  /// How long it did this, in milliseconds.
  package func ms(_ part: WallPart) -> Int64 { phases.reduce(0) { $0 +| ($1.part == part ? $1.span.lengthMs : 0) } }

  private mutating func send(_ attempt: AttemptTrace, _ beganMs: Int64) {
    let sentMs = Self.sentMs(attempt).map { beganMs +| $0 } ?? endMs
    add(.send, until: sentMs -| attempt.heldMs)
    add(.throttled, until: sentMs)
    add(.server, until: endMs)
  }

  private mutating func receive(_ attempt: AttemptTrace, _ beganMs: Int64) {
    let hasBody = attempt.operation == .part || attempt.bytesTransferred > 0
    add(.server, until: attempt.firstByteMs.map { hasBody ? beganMs +| $0 : endMs } ?? endMs)
    add(.send, until: endMs -| attempt.heldMs)
    add(.throttled, until: endMs)
  }

  private mutating func add(_ part: WallPart, until moment: Int64) {
    let to = min(moment, endMs)
    guard to > nextMs else { return }
    phases.append((part, TimeSpan(nextMs, to)))
    nextMs = to
  }

  /// Time from the beginning of an upload's request to the last byte of its body: 0 for a request without a body; nil
  /// if it was being sent until the end. For rows without this time (from older programs) the time of the first byte of
  /// the answer is used.
  private static func sentMs(_ attempt: AttemptTrace) -> Int64? {
    if let sent = attempt.sentMs { return sent }
    guard attempt.operation == .part || attempt.bytesTransferred > 0 else { return 0 }
    return attempt.firstByteMs
  }

  /// Nothing was measured if it was interrupted while waiting, for example for a host that refuses connections.
  private static func hasBegun(_ attempt: AttemptTrace) -> Bool {
    attempt.outcome != .interrupted || attempt.totalMs != nil || attempt.connectMs != nil || attempt.firstByteMs != nil
      || attempt.sentMs != nil
      || attempt.bytesTransferred > 0
  }

  private static let connecting: Set<String> = [
    ErrorCode.netDNS, .netRefused, .netUnreachable, .netConnectTimeout, .netTLS, .netCert,
  ].reduce(into: []) { $0.insert($1.rawValue) }

  private static func failedToConnect(_ attempt: AttemptTrace) -> Bool {
    attempt.firstByteMs == nil && attempt.errorCode.map(connecting.contains) ?? false
  }
}
