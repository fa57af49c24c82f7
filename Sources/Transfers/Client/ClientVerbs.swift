public import TransferModel

/// Control requests for files and batches. A running engine, in any process, applies them within a second; without one
/// they are applied immediately, including to files that a crashed engine held. Durable on return. An empty filter
/// selects everything.
extension TransferClient {
  /// Starts no more requests for these files until ``resume(_:)``; data on the server is kept. `interrupting` also ends
  /// running requests.
  @discardableResult
  public func pause(_ files: RowFilter, interrupting: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.pause(now: interrupting), files)
  }

  @discardableResult
  public func resume(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.resume, files)
  }

  /// Ends files permanently; the next run aborts their sessions on the servers.
  @discardableResult
  public func cancel(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.cancel, files)
  }

  /// Makes failed, cancelled and unknown files eligible for transfer again. `startingOver` ignores data already on the
  /// server.
  @discardableResult
  public func retry(_ files: RowFilter, startingOver: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.retry(startsOver: startingOver), files)
  }

  /// Decides the state of files whose outcome is unknown, with a reason.
  @discardableResult
  public func resolve(
    _ files: RowFilter, as resolution: Resolution, reason: String
  ) async throws(TransferError) -> ControlOutcome {
    try await control(.resolve(resolution, reason: reason), files)
  }

  /// Hides finished files from status and lists; reports still include them.
  @discardableResult
  public func clean(_ files: RowFilter, failed: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.clean(failed: failed), files)
  }

  /// Cancels unfinished files, then hides all.
  @discardableResult
  public func remove(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.remove, files)
  }

  /// The effect that the verb would have now; changes nothing.
  public func outcome(of verb: ControlVerb, _ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await read { try $0.outcome(of: verb, files) }
  }

  /// Changes priority, limits, deadline or labels of the batches that the filter names, or that contain a file which it
  /// selects.
  @discardableResult
  public func set(_ batches: RowFilter, _ change: BatchChange) async throws(TransferError) -> BatchOutcome {
    try await pool.run { [store, clock] () throws(TransferError) in
      try store.changeBatches(batches, change, between: WriteThrottle(clock).rest)
    }
  }

  private func control(_ verb: ControlVerb, _ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await pool.run { [store, clock] () throws(TransferError) in
      let outcome = try store.control(verb, files, between: WriteThrottle(clock).rest)
      if !outcome.asked.isEmpty { _ = try store.recoverIfIdle(argv: []) }
      if verb.endsFiles { try store.sweepCopies() }
      return outcome
    }
  }
}

extension ControlVerb {
  /// Whether the verb ends files, so that they no longer need their staged copy.
  package var endsFiles: Bool {
    switch self {
    case .cancel, .remove, .resolve(.done, _), .resolve(.cancel, _): true
    case .pause, .resume, .retry, .resolve(.retry, _), .clean: false
    }
  }
}
