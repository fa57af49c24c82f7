import TransferLedger
import TransferModel
import TransferProtocols

/// The result of a query about a done file.
package enum QuestionEnd: Sendable, Hashable {
  /// Recorded as a receipt of the file.
  case found(RemoteFinding)
  /// Inconclusive, with the reason.
  case inconclusive(String)
  /// A later upload to the same key has replaced it: the object says nothing about this file.
  case replaced
}

/// One file to be queried, until its destination has given a conclusive answer or cannot. Used by the engine's thread.
final class Question {
  typealias Number = RequestNumbers.Number

  let file: DoneUpload
  let target: QuestionTarget
  /// The step of the running request.
  var step = StepRequest.verify
  var attempt: AttemptID?
  var context: RequestContext?
  /// Consecutive inconclusive attempts, and those that were repeated at once.
  private(set) var failures = 0
  private var repairs = 0
  private var wasRefreshed = false
  /// When it may be queried, in milliseconds of the boot clock.
  private(set) var dueMs: Int64 = 0
  /// It waits because of a failure of the network.
  private var waitsForNetwork = false
  /// The request was sent, and has no reply.
  var isSent = false
  /// It was cancelled because the machine slept.
  var endsBySleep = false

  init(_ file: DoneUpload, _ target: QuestionTarget) { (self.file, self.target) = (file, target) }

  var object: StoredObject {
    let proto = target.resolved?.transferProtocol
    let facts = FileFacts(uid: file.uid, key: file.key, size: file.size, mtimeMs: file.mtimeNs / 1_000_000)
    let layout = (try? proto?.layout(size: file.size)) ?? ChunkLayout(whole: file.size)
    var known = TransferFacts(file: facts, layout: layout)
    known.session = file.session
    (known.isPlanned, known.storedChunks, known.acked) = (true, layout.count, file.size)
    known.learned = target.learned
    return StoredObject(known, file.proof)
  }

  /// The reason why a file cannot be queried, in words.
  struct Unaskable: Error { let reason: String }

  /// The first query.
  var firstStep: Result<StepRequest, Unaskable> {
    if file.isMerged { return .failure(Unaskable(reason: "it was recorded in another ledger: query it from there")) }
    if let refusal = target.refusal { return .failure(Unaskable(reason: refusal)) }
    if let step = target.resolved?.transferProtocol.laterQuestions?.question(about: object) { return .success(step) }
    let name = target.resolved?.transferProtocol.name ?? ""
    return .failure(Unaskable(reason: "\(name) cannot query it, or the data needed for the query was pruned"))
  }

  /// How to continue after an inconclusive answer.
  enum Turn {
    case again(afterMs: Int64)
    case givenUp
  }

  /// - Parameter budgetMs: additional wait required by the host's retry budget.
  func failed(
    _ failure: Failure, _ action: FailureAction, _ policy: RetryPolicy, budgetMs: Int64, nowMs: Int64
  ) -> Turn {
    waitsForNetwork = failure.code.category == .network
    let turn = turn(failure, action, policy, budgetMs)
    if case .again(let wait) = turn { dueMs = nowMs + wait }
    return turn
  }

  /// The machine slept: an earlier failure of the network says nothing any more.
  func slept() { if waitsForNetwork { dueMs = 0 } }

  private func turn(_ failure: Failure, _ action: FailureAction, _ policy: RetryPolicy, _ budgetMs: Int64) -> Turn {
    switch action {
    case .repair, .elsewhere:
      repairs += 1
      return repairs <= FileFailures.repairLimit ? .again(afterMs: 0) : .givenUp
    case .refreshCredential: return refreshed()
    case .permanent where failure.code == .authRefused || failure.code == .authExpired: return refreshed()
    case .retry, .probe, .sessionGone:
      failures += 1
      guard failures < policy.maxAttempts else { return .givenUp }
      var generator = SystemRandomNumberGenerator()
      let delay = policy.delayMs(
        afterFailure: failures, isThrottled: action == .retry(isThrottled: true),
        retryAfterMs: failure.retryAfterMs, using: &generator)
      return .again(afterMs: delay + budgetMs)
    case .permanent, .hold, .unknown, .makeParents: return .givenUp
    }
  }

  /// Credentials are reloaded once.
  private func refreshed() -> Turn {
    guard !wasRefreshed, let credentials = target.resolved?.credentials, !credentials.label.isEmpty else {
      return .givenUp
    }
    wasRefreshed = true
    credentials.refresh()
    return .again(afterMs: 0)
  }
}

/// A batch whose destination is queried.
final class QuestionTarget {
  /// nil if it cannot be set up.
  let resolved: ResolvedDestination?
  let host: QuestionHost
  var learned = LearnedFacts()
  /// Why its files are no longer queried.
  private(set) var refusal: String?
  private var refusalsInARow = 0

  init(_ resolved: ResolvedDestination, _ host: QuestionHost) { (self.resolved, self.host) = (resolved, host) }

  init(refused error: TransferError, _ host: QuestionHost) {
    (resolved, self.host, refusal) = (nil, host, "\(error)")
  }

  /// Credentials are shared by all its files: a few consecutive refusals are conclusive.
  func ended(_ failure: Failure?) {
    guard let failure, failure.code.category == .auth else {
      refusalsInARow = 0
      return
    }
    refusalsInARow += 1
    if refusalsInARow >= RefusalWatch.mostInARow { refusal = failure.message }
  }
}

/// The gate of a host, and the queries that wait for it.
final class QuestionHost {
  var gate: HostGate
  private var ready: [Question] = []
  private var delayed: [Question] = []

  init(_ gate: HostGate) { self.gate = gate }

  var waiting: Int { ready.count + delayed.count }

  func add(_ question: Question, nowMs: Int64) {
    if question.dueMs > nowMs { delayed.append(question) } else { ready.append(question) }
  }

  /// The next query that may be sent.
  func take(nowMs: Int64) -> Question? {
    if delayed.contains(where: { $0.dueMs <= nowMs }) {
      ready += delayed.filter { $0.dueMs <= nowMs }
      delayed.removeAll { $0.dueMs <= nowMs }
    }
    guard !ready.isEmpty, gate.allowsAnother(nowMs: nowMs) else { return nil }
    return ready.removeLast()
  }

  /// The machine slept.
  func slept() {
    gate.slept()
    for question in delayed { question.slept() }
  }

  func takeAll() -> [Question] {
    defer { (ready, delayed) = ([], []) }
    return ready + delayed
  }

  /// Time until a query may be sent; nil if time is not the reason for waiting.
  func waitMs(nowMs: Int64) -> Int64? {
    guard waiting > 0 else { return nil }
    let opening = gate.opensAtMs(nowMs: nowMs)
    if !ready.isEmpty { return opening.map { max(1, $0 - nowMs) } }
    return delayed.map { max(1, max($0.dueMs, opening ?? nowMs) - nowMs) }.min()
  }
}
