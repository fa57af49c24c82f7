import TransferModel

/// Determines whether a destination refuses a single file or all of them: wrong or expired credentials, a bucket that
/// does not exist. Such refusals do not count against the file until others succeed. A value, for one destination.
///
/// - Credentials are reloaded once after a success; requests that were sent with the old ones are sent again.
/// - A refused file is released to the ledger, without a failure.
/// - After ``mostInARow`` consecutive refusals for the same reason, or a second one of the same file, all files of the
///   destination are held back, until a request that was still running succeeds after all.
/// - A file that is refused again although others succeeded meanwhile is at fault itself.
struct RefusalWatch: Sendable {
  enum Decision: Sendable, Hashable {
    /// Reload the credentials, and repeat the request.
    case readCredential
    /// Repeat the request with credentials that were reloaded meanwhile.
    case sendAgain
    /// Release the file to the ledger.
    case wait
    /// Release the file, and hold back all files of the destination.
    case hold
    case fileAtFault
  }

  static let mostInARow = 5

  /// How often the credentials were reloaded.
  private(set) var generation = 0
  private var wasRead = false
  private var isHeld = false
  private var inARow = 0
  private var reason = ""
  private var successes = 0
  /// Refused files, with the number of successes at that time.
  private var refused: [FileID: Int] = [:]

  mutating func succeeded() {
    successes += 1
    (inARow, wasRead, isHeld) = (0, false, false)
  }

  /// `generation` is that of the credentials used by the request; nil if it had none, or they are not in question.
  mutating func refused(_ failure: Failure, file: FileID, generation: Int?) -> Decision {
    if let generation, generation < self.generation { return .sendAgain }
    if generation != nil && !wasRead {
      wasRead = true
      self.generation += 1
      return .readCredential
    }
    // After this prefix, servers quote the request.
    let reason = failure.code.rawValue + failure.message.prefix(45)
    inARow = reason == self.reason ? inARow + 1 : 1
    self.reason = reason
    let before = refused.updateValue(successes, forKey: file)
    if let before, before < successes {
      refused[file] = nil
      return .fileAtFault
    }
    if isHeld { return .wait }
    isHeld = inARow >= Self.mostInARow || before != nil
    return isHeld ? .hold : .wait
  }
}
