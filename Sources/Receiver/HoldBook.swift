import TransferModel

/// The holds of a script by name: the held requests, and the tests that wait for them. Called from the threads of all
/// connections.
final class HoldBook: Sendable {
  private struct Hold {
    let release: Gate
    var isReleased = false
    var held = 0
    /// The gate opens when this many requests are held.
    var awaited: [(count: Int, arrival: Gate)] = []
  }

  private let holds: Lock<[String: Hold]>
  private let stop: Gate

  /// Nothing is held any longer once `stop` is open.
  init(_ script: FaultScript, stop: Gate) throws(TransferError) {
    var holds: [String: Hold] = [:]
    for name in script.rules.flatMap(\.effect.holds) { holds[name] = Hold(release: try Gate()) }
    self.holds = Lock(holds)
    self.stop = stop
  }

  /// Returns true when the hold is released; false when the connection ends or the receiver stops before.
  func hold(_ name: String, socket: Int32) -> Bool {
    guard let release = enter(name) else { return true }
    defer { holds.withLock { $0[name]?.held -= 1 } }
    return Gate.waitForAny([release, stop], socket: socket) == 0
  }

  /// Counts one more request; nil when it need not wait.
  private func enter(_ name: String) -> Gate? {
    holds.withLock { holds in
      guard var hold = holds[name], !hold.isReleased else { return nil }
      hold.held += 1
      for awaited in hold.awaited where awaited.count <= hold.held { awaited.arrival.open() }
      hold.awaited.removeAll { $0.count <= hold.held }
      holds[name] = hold
      return hold.release
    }
  }

  func has(_ name: String) -> Bool { holds.withLock { $0[name] != nil } }

  /// Releases the held requests, and all later ones.
  func release(_ name: String) {
    holds.withLock { holds in
      holds[name]?.isReleased = true
      holds[name]?.release.open()
    }
  }

  /// Waits until `count` requests are held at the same time; false if that cannot happen: the hold is released or
  /// unknown, the receiver stops, the timeout expires, or `socket`, the connection of the waiting client, is shut down.
  func waitUntilHeld(
    _ name: String, count: Int, socket: Int32? = nil, timeoutMs: Int64 = .max
  ) throws(TransferError) -> Bool {
    let arrival = try Gate()
    let release = holds.withLock { holds -> Gate? in
      guard let hold = holds[name], !hold.isReleased else { return nil }
      if hold.held >= count { arrival.open() } else { holds[name]?.awaited.append((count, arrival)) }
      return hold.release
    }
    guard let release else { return false }
    return Gate.waitForAny([arrival, release, stop], socket: socket, timeoutMs: timeoutMs) == 0
  }
}
