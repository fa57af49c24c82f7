import TransferModel

/// An upload to which a client returns by its ID: an incomplete one, or what is remembered of a complete one.
protocol UploadSession: AnyObject, Sendable {
  /// `tus`, `resumable`, …: for the record.
  var protocolName: String { get }
  var id: String { get }
  /// Milliseconds since 1970 UTC.
  var expiresAtMs: Int64 { get }
}

/// The uploads of one receiver, in memory: a restarted receiver knows none.
final class UploadRegistry: Sendable {
  private struct Entry {
    var session: any UploadSession
    /// Milliseconds since 1970 UTC; nil while it is open.
    var endedAtMs: Int64?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// Uploads that a script made unknown: the client chooses their IDs and would otherwise create them again.
    var forgotten: Set<String> = []
    var nextSweep = UploadRegistry.sweepFrom
  }

  /// Expired sessions are remembered for this long, so that they can be distinguished from those that never existed.
  private static let memoryMs: Int64 = 3_600_000
  /// Complete ones are remembered for at least this long, for a client that lost the last answer.
  private static let endedMemoryMs: Int64 = 60_000
  private static let sweepFrom = 10_000
  private let state = Lock(State())

  func add<Session: UploadSession>(_ session: Session, as id: String? = nil) {
    state.withLock { state in
      state.entries[Self.key(Session.self, id ?? session.id)] = Entry(session: session)
      Self.sweep(&state)
    }
  }

  /// Drops ended uploads whenever the number of entries has doubled since the last sweep.
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

  /// The session with an ID that the client chose, created when there is none; nil when a script made it unknown.
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

  /// Removes a session permanently: an ID that the client chose cannot be used again.
  func forget<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { state in
      state.entries[Self.key(type, id)] = nil
      state.forgotten.insert(Self.key(type, id))
    }
  }

  /// Drops all uploads, including their staged files.
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
