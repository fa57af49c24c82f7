import TransferModel

/// Where a claimed file stands in the engine.
enum FilePhase: Sendable, Hashable {
  /// Goes on with what its protocol says.
  case working
  /// What its last commit brings decides how it goes on; with the reason to end, if there is one by then.
  case held(Hold, FileEnding?)
  /// Nothing new begins; it leaves the engine with its last open attempt.
  case ending(FileEnding)
  /// It has left the engine: its last change is in the unit that said so.
  case released

  enum Hold: Sendable, Hashable {
    /// A probe showed that chunks are missing: how many of them the ledger had taken for done.
    case disowning
    /// The receipts of all chunks, for a protocol that proves by them.
    case parts
    /// The local file of a download is moved to its name.
    case placing
    /// What the local file has of the version that is to be fetched is taken from it.
    case reusing
  }

  /// It waits for something other than a commit.
  var isAtLocalWork: Bool {
    switch self {
    case .held(.placing, _), .held(.reusing, _): true
    case .working, .held, .ending, .released: false
    }
  }

  /// Why the file is to leave the engine.
  var ending: FileEnding? {
    switch self {
    case .ending(let ending), .held(_, let ending?): ending
    case .working, .held(_, nil), .released: nil
    }
  }

  /// The same with a reason to end.
  func ending(_ reason: FileEnding) -> FilePhase {
    switch self {
    case .working, .ending: .ending(reason)
    case .held(let hold, _): .held(hold, reason)
    case .released: .released
    }
  }

  /// The same until a commit has brought what it waits for.
  func held(_ hold: Hold) -> FilePhase { self == .released ? .released : .held(hold, ending) }

  /// What was waited for is there.
  var unheld: FilePhase {
    guard case .held(_, let ending) = self else { return self }
    return ending.map(FilePhase.ending) ?? .working
  }
}

/// Why a file leaves the engine before it is done.
enum FileEnding: Sendable, Hashable {
  case fail(Failure, keepsSession: Bool)
  case unknown(Failure)
  case supersede(SourceIdentity, notBeforeMs: Int64)
  case requeue(notBeforeMs: Int64?, ErrorCode?, isFailure: Bool)
}

/// The requests of a file that have an open attempt, or were asked of the ledger: a control step runs alone, chunks run
/// side by side.
enum OpenRequests: Sendable, Hashable {
  /// Chunks with an open attempt, and chunks asked for but not yet begun.
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

  /// Asks for chunks. Nothing is asked for while a control step runs.
  mutating func ask(_ count: Int) { change { $1 += count } }

  /// Of those that were asked for, so many began.
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

/// What became of the session of a file that leaves the engine, where that file cannot go on with it.
enum LostSession: Sendable, Hashable {
  /// The server forgot it; its row ends when the file leaves the engine.
  case gone
  /// It is there and of no use: what is left of it is ended at the server.
  case useless
}
