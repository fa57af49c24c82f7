import TransferModel

/// What a client comes back to by an id: an upload that is not complete, or what is remembered of one that is.
protocol UploadSession: AnyObject, Sendable {
  /// `tus`, `resumable`, …: for the record.
  var protocolName: String { get }
  var id: String { get }
  /// Milliseconds since 1970 UTC.
  var expiresAtMs: Int64 { get }
}

/// The uploads of one receiver, in memory: a receiver that was started again knows none.
final class UploadRegistry: Sendable {
  private struct Entry {
    var session: any UploadSession
    /// Milliseconds since 1970 UTC; nil while it is open.
    var endedAtMs: Int64?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// What a script made unknown, for ids that the client chooses and would make again.
    var forgotten: Set<String> = []
    var nextSweep = UploadRegistry.sweepFrom
  }

  /// Expired sessions stay known for this long, so that they can be told from those that never were.
  private static let memoryMs: Int64 = 3_600_000
  /// Complete ones at least for this long, for a client that lost the last answer.
  private static let endedMemoryMs: Int64 = 60_000
  private static let sweepFrom = 10_000
  private let state = Lock(State())

  func add<Session: UploadSession>(_ session: Session, as id: String? = nil) {
    state.withLock { state in
      state.entries[Self.key(Session.self, id ?? session.id)] = Entry(session: session)
      Self.sweep(&state)
    }
  }

  /// Drops ended uploads whenever there are twice as many as the last time.
  private static func sweep(_ state: inout State) {
    guard state.entries.count >= state.nextSweep else { return }
    let now = wallMilliseconds()
    state.entries = state.entries.filter { _, entry in
      entry.session.expiresAtMs > now - memoryMs && entry.endedAtMs ?? now > now - endedMemoryMs
    }
    state.nextSweep = max(sweepFrom, 2 * state.entries.count)
  }

  func find<Session: UploadSession>(_ id: String, _ type: Session.Type) -> Session? {
    state.withLock { $0.entries[Self.key(type, id)]?.session as? Session }
  }

  /// The session with an id that the client chose, made when there is none; nil when a script made it unknown.
  func findOrMake<Session: UploadSession>(
    _ id: String, isUsable: (Session) -> Bool = { _ in true }, _ make: () throws(ExchangeEnd) -> Session
  ) throws(ExchangeEnd) -> (session: Session, isNew: Bool)? {
    let key = Self.key(Session.self, id)
    return try state.withLock { state throws(ExchangeEnd) in
      if state.forgotten.contains(key) { return nil }
      if let found = state.entries[key]?.session as? Session, isUsable(found) { return (found, false) }
      let made = try make()
      state.entries[key] = Entry(session: made)
      Self.sweep(&state)
      return (made, true)
    }
  }

  func isForgotten<Session: UploadSession>(_ id: String, _ type: Session.Type) -> Bool {
    state.withLock { $0.forgotten.contains(Self.key(type, id)) }
  }

  /// The session is complete; it stays known for a while.
  func end<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { $0.entries[Self.key(type, id)]?.endedAtMs = wallMilliseconds() }
  }

  func remove<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { state in state.entries[Self.key(type, id)] = nil }
  }

  /// Removes a session for good: an id that the client chose does not come back either.
  func forget<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { state in
      state.entries[Self.key(type, id)] = nil
      state.forgotten.insert(Self.key(type, id))
    }
  }

  /// Drops everything, and with it the staged files.
  func removeAll() { state.withLock { $0.entries = [:] } }

  var count: Int { state.withLock(\.entries.count) }

  private static func key<Session: UploadSession>(_ type: Session.Type, _ id: String) -> String {
    "\(type)/\(id)"
  }
}

/// 128 random bits as 32 hexadecimal digits, so that an upload's ID cannot be guessed.
func randomID() -> String {
  let bits = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
  return hexText(bits.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } })
}
