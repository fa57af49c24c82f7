public import TransferModel

/// What people ask of files and batches. A running engine, in whichever process, follows within a second; without one
/// it is done at once, also to files that a crashed engine had. Durable on return. An empty filter means everything.
extension TransferClient {
  /// Nothing of these files is begun any more until ``resume(_:)``; what the server has stays. `interrupting` also ends
  /// requests that run.
  @discardableResult
  public func pause(_ files: RowFilter, interrupting: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.pause(now: interrupting), files)
  }

  @discardableResult
  public func resume(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.resume, files)
  }

  /// Ends files for good, and what was begun at their servers with the next run.
  @discardableResult
  public func cancel(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.cancel, files)
  }

  /// Lets failed, cancelled and unknown files be tried again. `startingOver` leaves unused what the server has.
  @discardableResult
  public func retry(_ files: RowFilter, startingOver: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.retry(startsOver: startingOver), files)
  }

  /// Says what became of files whose outcome is unknown, and why one says so.
  @discardableResult
  public func resolve(
    _ files: RowFilter, as resolution: Resolution, reason: String
  ) async throws(TransferError) -> ControlOutcome {
    try await control(.resolve(resolution, reason: reason), files)
  }

  /// Hides finished files from status and lists; reports still have them.
  @discardableResult
  public func clean(_ files: RowFilter, failed: Bool = false) async throws(TransferError) -> ControlOutcome {
    try await control(.clean(failed: failed), files)
  }

  /// Cancels what is not at rest, then hides it.
  @discardableResult
  public func remove(_ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await control(.remove, files)
  }

  /// What the verb would do now; changes nothing.
  public func outcome(of verb: ControlVerb, _ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await read { try $0.outcome(of: verb, files) }
  }

  /// Changes priority, limits, deadline or labels of the batches that the filter names, or that have a file which it
  /// selects.
  @discardableResult
  public func set(_ batches: RowFilter, _ change: BatchChange) async throws(TransferError) -> BatchOutcome {
    try await pool.run { [store, clock] () throws(TransferError) in
      try store.changeBatches(batches, change, between: TurnTaking(clock).rest)
    }
  }

  private func control(_ verb: ControlVerb, _ files: RowFilter) async throws(TransferError) -> ControlOutcome {
    try await pool.run { [store, clock] () throws(TransferError) in
      let outcome = try store.control(verb, files, between: TurnTaking(clock).rest)
      if !outcome.asked.isEmpty { _ = try store.recoverIfIdle(argv: []) }
      if verb.endsFiles { try store.sweepCopies() }
      return outcome
    }
  }
}

extension ControlVerb {
  /// Files that it ends need their staged copy no more.
  package var endsFiles: Bool {
    switch self {
    case .cancel, .remove, .resolve(.done, _), .resolve(.cancel, _): true
    case .pause, .resume, .retry, .resolve(.retry, _), .clean: false
    }
  }
}
