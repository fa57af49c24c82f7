import TransferLedger
import TransferModel
import TransferProtocols

/// The phase of a claimed file in the engine.
enum FilePhase: Sendable, Hashable {
  /// Performs the steps of its protocol.
  case working
  /// The same, and its row is `finishing`: nothing is left but the last step.
  case finishing
  /// Waits for the result of its last commit; holds the reason to end, if one has occurred meanwhile.
  case held(Hold, FileEnding?)
  /// No new request begins; it is released when its last open attempt ends. Its row may be `finishing`.
  case ending(FileEnding, isFinishing: Bool = false)
  /// It was released: its last change is in the unit that released it.
  case released

  enum Hold: Sendable, Hashable {
    /// A probe showed that chunks are missing: waits for the number of them that the ledger had recorded as done.
    case disowning
    /// Waits for the receipts of all chunks, for a protocol whose proof needs them.
    case parts
    /// The local file of a download is being renamed to its final name; its row is `finishing`.
    case placing
    /// Intact data of the version to be fetched is being copied from the local file.
    case reusing
  }

  /// It waits for something other than a commit.
  var isAtLocalWork: Bool {
    switch self {
    case .held(.placing, _), .held(.reusing, _): true
    case .working, .finishing, .held, .ending, .released: false
    }
  }

  /// It may take a step.
  var isAtWork: Bool { self == .working || self == .finishing }

  /// Its row is `finishing`.
  var isFinishing: Bool {
    switch self {
    case .finishing, .held(.placing, _), .ending(_, isFinishing: true): true
    case .working, .held, .ending, .released: false
    }
  }

  /// Why the file is to be released.
  var ending: FileEnding? {
    switch self {
    case .ending(let ending, _), .held(_, let ending?): ending
    case .working, .finishing, .held(_, nil), .released: nil
    }
  }

  /// The same with a reason to end.
  func ending(_ reason: FileEnding) -> FilePhase {
    switch self {
    case .working, .finishing, .ending: .ending(reason, isFinishing: isFinishing)
    case .held(let hold, _): .held(hold, reason)
    case .released: .released
    }
  }

  /// The same phase, held until a commit has the result.
  func held(_ hold: Hold) -> FilePhase { self == .released ? .released : .held(hold, ending) }

  /// The phase after the awaited result has arrived.
  var unheld: FilePhase {
    guard case .held(_, let ending) = self else { return self }
    if let ending { return .ending(ending, isFinishing: isFinishing) }
    return isFinishing ? .finishing : .working
  }

  /// The same phase after the row became `active` again.
  var resumed: FilePhase {
    switch self {
    case .finishing: .working
    case .ending(let ending, _): .ending(ending, isFinishing: false)
    case .working, .held, .released: self
    }
  }
}

/// Why a file is released before it is done.
enum FileEnding: Sendable, Hashable {
  case fail(Failure, keepsSession: Bool)
  case unknown(Failure)
  case supersede(SourceIdentity, notBeforeMs: Int64)
  case duplicate(DeliveredFile)
  /// Its source was deleted before anything of it was sent.
  case gone(String)
  case release(notBeforeMs: Int64?, ErrorCode?, isFailure: Bool)

  var isDuplicate: Bool { if case .duplicate = self { true } else { false } }

  /// The same with what a person can do if the file was to be repaired, and other content came than that recorded.
  func explained(by facts: TransferFacts) -> FileEnding {
    guard case .fail(let failure, let keepsSession) = self, failure.code == .integrityMismatch,
      let past = facts.past, past.isSuspect, facts.file.expected.saysContent, past.meets(facts.file.expected)
    else { return self }
    let text = "\(failure.message); that is not what was fetched before, and \"transfers pull --overwrite\" takes it"
    return .fail(Failure(failure.code, text), keepsSession: keepsSession)
  }
}

/// The requests of a file with an open attempt, or requested from the ledger: either one control step, or parallel
/// chunks.
enum OpenRequests: Sendable, Hashable {
  /// Chunks with an open attempt, and chunks requested but not yet begun.
  case chunks(open: Int, asked: Int)
  case control

  static let none = OpenRequests.chunks(open: 0, asked: 0)

  var count: Int {
    switch self {
    case .chunks(let open, let asked): open + asked
    case .control: 1
    }
  }

  var openChunks: Int { if case .chunks(let open, _) = self { open } else { 0 } }

  /// Requests chunks. None are requested while a control step runs.
  mutating func ask(_ count: Int) { change { $1 += count } }

  /// `begun` of the requested chunks began.
  mutating func began(_ begun: Int, ofAsked asked: Int) {
    guard begun + asked > 0 else { return }
    change {
      $0 += begun
      $1 -= asked
    }
  }

  /// A chunk's attempt ended.
  mutating func endChunk() { change { open, _ in open -= 1 } }

  private mutating func change(_ change: (_ open: inout Int, _ asked: inout Int) -> Void) {
    guard case .chunks(var open, var asked) = self else {
      return assertionFailure("a chunk beside a control step")
    }
    change(&open, &asked)
    self = .chunks(open: open, asked: asked)
  }
}

/// What becomes of the session of a file that is released.
enum SessionFate: Sendable, Hashable {
  /// The file continues it.
  case kept
  /// The file cannot continue it.
  case lost(LostSession)
  /// It is given up, and the file is divided in this way, unless a whole chunk is stored by then.
  case recut(ChunkLayout)

  mutating func lose(_ session: LostSession) { self = .lost(session) }

  /// It may be complete after all, and is queried.
  mutating func keepLost() { if case .lost = self { self = .kept } }

  /// A lost session cannot be given up.
  mutating func recut(_ layout: ChunkLayout) { if self == .kept { self = .recut(layout) } }
}

/// The state of a session that a file cannot continue.
enum LostSession: Sendable, Hashable {
  /// The server no longer knows it; its row ends when the file is released.
  case gone
  /// It exists but is useless: its remains are aborted on the server.
  case useless
}
