import CurlTransport
import TransferEngine
import TransferLedger
package import TransferModel

extension TransferStore {
  /// Queries the destinations again about each done upload that the filter selects, and compares the local files of
  /// downloads like ``verify(_:_:repairs:found:)``. The finding for a file is its next receipt, durable on return; if
  /// nothing could be determined, only the query is recorded. It is a separate run: each request has an attempt.
  /// - Throws: `.locked` when another engine owns the ledger; errors of the store.
  package func proveRemotely(
    _ filter: RowFilter, argv: [String], notice: @escaping @Sendable (Notice) -> Void, stop: StopSignal
  ) throws(TransferError) -> RemoteProof {
    var proof = RemoteProof()
    try ask(filter, argv: argv, notice: notice, stop: stop, &proof)
    guard !stop.isAsked else { return proof }
    _ = try verify(filter, .all) { file, finding in proof.count(file, finding) }
    return proof
  }

  private func ask(
    _ filter: RowFilter, argv: [String], notice: @escaping @Sendable (Notice) -> Void, stop: StopSignal,
    _ proof: inout RemoteProof
  ) throws(TransferError) {
    let clock = SteadyClock()
    try refuseMerged(clock)
    let ledger = try open(.existing, clock: clock)
    defer { ledger.close() }
    let counts = try ledger.read { try $0.doneUploadCounts(filter) }
    proof.replaced = counts.replaced + (try ledger.read { try $0.replacedDownloads(filter) })
    guard counts.standing > 0 else { return }
    let run = try startRun(ledger, argv, stop)
    let configuration = EngineConfiguration.chosen
    let resolver = CurlDestinations(connections: configuration.workers, hook: hook, carriedBy: machine.transport)
    defer { resolver.stop() }
    let engine = Engine(
      ledger: ledger, run: run, resolver: resolver, clock: clock, configuration: configuration,
      observer: EngineObserver(progress: nil, notice: notice))
    proof.left = try engine.ask(filter, until: stop) { file, end in proof.count(file, end) }
  }

  private func refuseMerged(_ clock: SteadyClock) throws(TransferError) {
    let ledger = try open(.readOnly, clock: clock)
    defer { ledger.close() }
    guard try ledger.read({ try $0.isMerged() }) else { return }
    throw TransferError(
      .storeUnsuitable, "ask destinations about", NameBytes(path),
      cause: "its queries are recorded as requests of a run, and a merged ledger is only for reading",
      remedy: "use \"transfers prove --remote\" with each of its shards")
  }

  private func startRun(_ ledger: Ledger, _ argv: [String], _ stop: StopSignal) throws(TransferError) -> RunID {
    do throws(TransferError) {
      return try ledger.startRun(Self.newRun(argv)) { stop.onRequest { _ in } }
    } catch {
      guard error.kind == .locked else { throw error }
      throw TransferError(
        .locked, "ask destinations about", NameBytes(path), cause: error.cause,
        remedy:
          "its queries are recorded as requests of a run, and a ledger has only one run at a time: \"transfers wait\", then try again"
      )
    }
  }
}

extension RemoteProof {
  fileprivate mutating func count(_ file: DoneUpload, _ end: QuestionEnd) {
    func doubt(_ outcome: Outcome, _ detail: String) {
      count(Doubt(file: file.id, outcome, detail: detail, path: file.path))
    }
    switch end {
    case .found(let finding):
      switch finding.outcome {
      case .found: count(finding.proof.confirmation)
      case .lost: doubt(.absent, finding.detail)
      case .differs: doubt(.different, finding.detail)
      }
    case .inconclusive(let text): doubt(.inconclusive, text)
    case .replaced: replaced += 1
    }
  }

  fileprivate mutating func count(_ file: KeptDownload, _ finding: Result<LocalFinding, Failure>) {
    func doubt(_ outcome: Outcome, _ detail: String) {
      count(Doubt(file: file.id, outcome, detail: detail, path: file.path))
    }
    switch finding {
    case .success(let found):
      switch found.outcome {
      case .intact: count(found.digest != nil ? .digest : .size)
      case .missing: doubt(.absent, "the local file is missing")
      case .changed:
        let size = found.size.map {
          $0 == file.size ? "its content has changed" : "it has \($0) bytes instead of \(file.size)"
        }
        doubt(.different, size ?? "it has changed")
      }
    case .failure(let failure): doubt(.inconclusive, failure.message)
    }
  }
}
