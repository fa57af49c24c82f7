import TransferModel

/// The lock of the only engine of a ledger (`<path>.lock`), whose file names the process that holds it.
final class EngineLock: Sendable {
  /// Of the ledger.
  private let path: String
  private let held = Lock<SidecarLock?>(nil)

  init(ofLedger path: String) { self.path = path }

  /// Takes the lock, or takes over the one of `turn`, and holds it until ``release()``. Throws `.locked` if another
  /// engine has it.
  func take(for run: NewRun, _ turn: EngineTurn?) throws(TransferError) {
    try held.withLock { (held: inout SidecarLock?) throws(TransferError) in
      if held == nil { held = try locked(for: run, turn) }
    }
  }

  func release() { held.withLock { $0 = nil } }

  /// Calls `body` while holding the lock; nil if an engine has it, of this process or of another.
  func whileIdle<Result>(
    for run: NewRun, _ body: () throws(TransferError) -> Result?
  ) throws(TransferError) -> Result? {
    try held.withLock { (held: inout SidecarLock?) throws(TransferError) -> Result? in
      guard held == nil else { return nil }
      let lock = try SidecarLock(path: path + ".lock")
      defer { withExtendedLifetime(lock) {} }
      guard try lock.tryLockExclusive() else { return nil }
      try lock.write(Self.holder(run))
      return try body()
    }
  }

  private func locked(for run: NewRun, _ turn: EngineTurn?) throws(TransferError) -> SidecarLock {
    if let lock = turn?.take() {
      try lock.write(Self.holder(run))
      return lock
    }
    let lock = try SidecarLock(path: path + ".lock")
    guard try lock.tryLockExclusive() else {
      let holder = lock.read()
      throw TransferError(
        .locked, "start engine on", NameBytes(path),
        cause: "another engine is running" + (holder.isEmpty ? "" : ": \(holder)"),
        remedy: "transfers wait, or transfers status")
    }
    try lock.write(Self.holder(run))
    return lock
  }

  private static func holder(_ run: NewRun) -> String { "pid \(run.pid) on \(run.host)" }
}
