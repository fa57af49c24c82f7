import TransferLedger
import TransferModel
import TransferProtocols

/// The done uploads of a selection that have not been queried yet, with their destinations and hosts. Reads them from
/// the ledger a page at a time and keeps no more than a window of them in memory. Used by one thread.
final class QuestionBacklog {
  private static let page = 256
  private static let window = 512

  private let engine: Engine
  private let filter: RowFilter
  private var hosts: [String: QuestionHost] = [:]
  private var targets: [BatchID: QuestionTarget] = [:]
  private var last: Int64 = 0
  private var hasMore = true

  init(_ engine: Engine, _ filter: RowFilter) { (self.engine, self.filter) = (engine, filter) }

  var isEmpty: Bool { !hasMore && waiting == 0 }
  private var waiting: Int { hosts.values.reduce(0) { $0 + $1.waiting } }

  /// Whether another page fits into the window in addition to the running requests.
  func hasRoom(running: Int) -> Bool { hasMore && running + waiting <= Self.window - Self.page }

  func readPage() throws(TransferError) {
    let files = try engine.ledger.read { try $0.doneUploads(filter, after: last, limit: Self.page) }
    hasMore = files.count == Self.page
    for file in files {
      last = file.id.rawValue
      add(Question(file, try target(of: file.batch)))
    }
  }

  /// Returns a query with an inconclusive answer to the backlog; it is repeated when it is due.
  func add(_ question: Question) { question.target.host.add(question, nowMs: engine.bootMs) }

  /// Removes a query whose host may be queried now; nil if there is none.
  func take() -> Question? {
    let nowMs = engine.bootMs
    for host in hosts.values { if let question = host.take(nowMs: nowMs) { return question } }
    return nil
  }

  /// Removes the queries to hosts that refused connections repeatedly.
  func takeUnreachable() -> [Question] {
    let most = engine.configuration.breakerOpensBeforeGivingUp
    return hosts.values.filter { $0.gate.opensInARow >= most }.flatMap { $0.takeAll() }
  }

  /// The machine slept: connections are probably dead, and failures of the network are forgotten.
  func slept() {
    for host in hosts.values { host.slept() }
    var seen: Set<ObjectIdentifier> = []
    for transport in targets.values.compactMap(\.resolved?.transport)
    where seen.insert(ObjectIdentifier(transport as AnyObject)).inserted { transport.dropConnections() }
  }

  func removeAll() { for host in hosts.values { _ = host.takeAll() } }

  /// Time until a host may be queried, in milliseconds; nil if no query waits for time to pass.
  func waitMs(nowMs: Int64) -> Int64? { hosts.values.compactMap { $0.waitMs(nowMs: nowMs) }.min() }

  private func target(of batch: BatchID) throws(TransferError) -> QuestionTarget {
    if let known = targets[batch] { return known }
    guard let settings = try engine.ledger.read({ try $0.batchSettings(batch) }) else {
      throw TransferError(
        .bug, "read the settings of batch", NameBytes(batch.description), cause: "the row is missing",
        remedy: "run \"transfers store check\"")
    }
    let target = target(settings)
    targets[batch] = target
    return target
  }

  private func target(_ settings: BatchSettings) -> QuestionTarget {
    do throws(TransferError) {
      let resolved = try engine.resolver.resolve(settings)
      return QuestionTarget(resolved, host(resolved.host))
    } catch {
      return QuestionTarget(refused: error, host(""))
    }
  }

  private func host(_ name: String) -> QuestionHost {
    if let known = hosts[name] { return known }
    let host = QuestionHost(HostGate(engine.concurrency(name, workers: engine.configuration.workers)))
    hosts[name] = host
    return host
  }
}
