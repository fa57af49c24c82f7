import TransferModel

/// Tells whether a destination refuses a file or all of them: wrong or expired credentials, a bucket that is not there.
/// Such refusals say nothing about the file until others get through. A value, for one destination.
///
/// - Credentials are read again once after a success; requests that went out with the old ones are sent again.
/// - A file that is refused goes back to the ledger, with no failure.
/// - ``mostInARow`` refusals for the same reason with no success between, or a second one of the same file: all files
///   of the destination are held back, until one that was still under way gets through after all.
/// - A file that is refused again although others got through meanwhile is at fault itself.
struct RefusalWatch: Sendable {
  enum Decision: Sendable, Hashable {
    /// Read the credentials again, and send the same again.
    case readCredential
    /// Send the same again, with what was read meanwhile.
    case sendAgain
    /// The file goes back to the ledger.
    case wait
    /// That, and the destination takes nothing for now.
    case hold
    case fileAtFault
  }

  static let mostInARow = 5

  /// How often the credentials were read again.
  private(set) var generation = 0
  private var wasRead = false
  private var isHeld = false
  private var inARow = 0
  private var reason = ""
  private var successes = 0
  /// Files that were refused, by the successes until then.
  private var refused: [FileID: Int] = [:]

  mutating func succeeded() {
    successes += 1
    (inARow, wasRead, isHeld) = (0, false, false)
  }

  /// `generation` is that of the credentials which the request had; nil when it had none, or they are not in question.
  mutating func refused(_ failure: Failure, file: FileID, generation: Int?) -> Decision {
    if let generation, generation < self.generation { return .sendAgain }
    if generation != nil && !wasRead {
      wasRead = true
      self.generation += 1
      return .readCredential
    }
    // Behind it, servers name the request.
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
