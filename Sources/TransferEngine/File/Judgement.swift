import TransferModel
import TransferProtocols

/// A verdict without its wrappings.
struct Judgement: Sendable {
  /// What to make of the answer; none of ``Verdict/learned(_:_:)``, ``Verdict/noted(_:_:)``, ``Verdict/doubted(_:_:)``,
  /// ``Verdict/opened(remoteID:expiresAtMs:_:)``.
  var verdict: Verdict
  var learned: LearnedFacts?
  /// For the live session; an empty value forgets its name.
  var notes: [String: String] = [:]
  var opened: (remoteID: String, expiresAtMs: Int64?)?
  /// To be remembered with the chunk, whose answer was lost.
  var doubt: [String: String]?

  init(_ verdict: Verdict) {
    self.verdict = verdict
    while true {
      switch self.verdict {
      case .learned(let learned, let inner):
        self.learned = self.learned ?? learned
        self.verdict = inner
      case .noted(let notes, let inner):
        self.notes.merge(notes) { outer, _ in outer }
        self.verdict = inner
      case .doubted(let remote, let inner):
        doubt = remote
        self.verdict = inner
      case .opened(let remoteID, let expiresAtMs, let inner):
        opened = (remoteID, expiresAtMs)
        self.verdict = inner
      default: return
      }
    }
  }

  /// The same with another verdict inside.
  func with(_ verdict: Verdict) -> Verdict {
    var whole = verdict
    if let opened { whole = .opened(remoteID: opened.remoteID, expiresAtMs: opened.expiresAtMs, whole) }
    if let doubt { whole = .doubted(doubt, whole) }
    if !notes.isEmpty { whole = .noted(notes, whole) }
    return learned.map { .learned($0, whole) } ?? whole
  }
}
