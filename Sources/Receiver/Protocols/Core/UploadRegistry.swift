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
  private struct State {
    var sessions: [String: any UploadSession] = [:]
    /// What a script made unknown, for ids that the client chooses and would make again.
    var forgotten: Set<String> = []
  }

  /// Expired sessions stay known for this long, so that they can be told from those that never were.
  private static let memoryMs: Int64 = 3_600_000
  private let state = Lock(State())

  /// Adds a session, and drops those that expired long ago.
  func add<Session: UploadSession>(_ session: Session, as id: String? = nil) {
    let oldest = wallMilliseconds() - Self.memoryMs
    state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.expiresAtMs > oldest }
      state.sessions[Self.key(Session.self, id ?? session.id)] = session
    }
  }

  func find<Session: UploadSession>(_ id: String, _ type: Session.Type) -> Session? {
    state.withLock { $0.sessions[Self.key(type, id)] as? Session }
  }

  /// The session with an id that the client chose, made when there is none; nil when a script made it unknown.
  func findOrMake<Session: UploadSession>(
    _ id: String, isUsable: (Session) -> Bool = { _ in true }, _ make: () throws(ExchangeEnd) -> Session
  ) throws(ExchangeEnd) -> (session: Session, isNew: Bool)? {
    let key = Self.key(Session.self, id)
    return try state.withLock { state throws(ExchangeEnd) in
      if state.forgotten.contains(key) { return nil }
      if let found = state.sessions[key] as? Session, isUsable(found) { return (found, false) }
      let made = try make()
      state.sessions[key] = made
      return (made, true)
    }
  }

  func isForgotten<Session: UploadSession>(_ id: String, _ type: Session.Type) -> Bool {
    state.withLock { $0.forgotten.contains(Self.key(type, id)) }
  }

  func remove<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { state in state.sessions[Self.key(type, id)] = nil }
  }

  /// Removes a session for good: an id that the client chose does not come back either.
  func forget<Session: UploadSession>(_ id: String, _ type: Session.Type) {
    state.withLock { state in
      state.sessions[Self.key(type, id)] = nil
      state.forgotten.insert(Self.key(type, id))
    }
  }

  /// Drops everything, and with it the staged files.
  func removeAll() { state.withLock { $0.sessions = [:] } }

  private static func key<Session: UploadSession>(_ type: Session.Type, _ id: String) -> String {
    "\(type)/\(id)"
  }
}

/// 128 random bits as 32 hexadecimal digits: nobody guesses somebody else's upload.
func randomID() -> String {
  let bits = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
  return hexText(bits.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } })
}
