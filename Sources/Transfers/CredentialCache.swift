import TransferEngine
import TransferModel
import TransferProtocols

/// Keeps a credential until it is about to expire. Asked on threads that may block, several at a time: one of them asks
/// for a new one; the others go on with the old one while that is valid, else they wait for the answer.
final class CredentialCache: Sendable {
  typealias Reason = CredentialRequest.Reason
  typealias Answer = Result<Credential?, Failure>

  /// What was got.
  struct Fresh: Sendable {
    var credential: Credential
    /// How long it is valid, in milliseconds; nil without end.
    var validMs: Int64?
  }

  private struct Kept {
    var credential: Credential
    /// When it is renewed while it still is valid, and when it is not used any more: milliseconds of the boot clock.
    var renewMs: Int64?
    var endMs: Int64?
  }

  private struct State {
    var kept: Kept?
    var isAsking = false
    var waiting: [Mailbox<Answer>] = []
    var reason = Reason.first
  }

  /// After a renewal failed, the next is tried so much later, in milliseconds, while the old credential is valid.
  private static let retryMs: Int64 = 60_000

  private let clock: any TransferClock
  private let aheadMs: Int64
  private let state = Lock(State())

  /// - Parameter aheadMs: how long before its end a credential is renewed, in milliseconds; at most half of the time
  ///   for which it is valid.
  init(_ clock: any TransferClock = SystemClock(), aheadMs: Int64) { (self.clock, self.aheadMs) = (clock, aheadMs) }

  /// What is kept and valid; nil where there is nothing, which has to be asked for. Never blocks.
  var held: HeldCredential? {
    let nowMs = clock.bootMs
    return state.withLock { state in
      guard let kept = state.kept, kept.endMs.map({ nowMs < $0 }) ?? true else { return nil }
      return HeldCredential(kept.credential, isDue: !state.isAsking && kept.renewMs.map { nowMs >= $0 } ?? false)
    }
  }

  /// Forgets what a server refused.
  func forget() {
    state.withLock { state in
      if state.kept != nil { state.reason = .refused }
      state.kept = nil
    }
  }

  /// What is kept, or else what `read` gets, which is kept until it is refused. As ``credential(isOver:_:)``.
  func lasting(
    isOver: () -> Bool, _ read: () throws(Failure) -> Credential
  ) throws(Failure) -> Credential? {
    try credential(isOver: isOver) { _ in
      do throws(Failure) {
        let credential = try read()
        return (.success(credential), Fresh(credential: credential, validMs: nil))
      } catch {
        return (.failure(error), nil)
      }
    }
  }

  /// What is kept, or else what `ask` gets. With nil in place of ``Fresh`` its answer is for this caller and those who
  /// wait, and nothing is kept.
  /// - Parameter isOver: asked several times a second whether this caller still waits.
  func credential(
    isOver: () -> Bool, _ ask: (Reason) -> (Answer, Fresh?)
  ) throws(Failure) -> Credential? {
    switch state.withLock({ next(&$0) }) {
    case .known(let credential): return credential
    case .wait(let box): return try box.take(until: isOver).get()
    case .ask(let reason):
      let (answer, fresh) = ask(reason)
      return try conclude(answer, fresh).get()
    }
  }

  private enum Step {
    case known(Credential)
    case wait(Mailbox<Answer>)
    case ask(Reason)
  }

  private func next(_ state: inout State) -> Step {
    let nowMs = clock.bootMs
    if let kept = state.kept, kept.endMs.map({ nowMs < $0 }) ?? true {
      guard let renewMs = kept.renewMs, nowMs >= renewMs, !state.isAsking else { return .known(kept.credential) }
      state.isAsking = true
      return .ask(.expired)
    }
    if state.kept != nil { (state.kept, state.reason) = (nil, .expired) }
    guard !state.isAsking else {
      let box = Mailbox<Answer>()
      state.waiting.append(box)
      return .wait(box)
    }
    state.isAsking = true
    return .ask(state.reason)
  }

  /// Keeps what came, and tells all who wait. A renewal that failed leaves the old credential while it is valid.
  private func conclude(_ answer: Answer, _ fresh: Fresh?) -> Answer {
    let nowMs = clock.bootMs
    let (waiting, answer) = state.withLock { state in
      defer { (state.isAsking, state.waiting) = (false, []) }
      if let fresh {
        state.kept = kept(fresh, nowMs)
      } else if case .failure = answer, let old = state.kept, old.endMs.map({ nowMs < $0 }) ?? true {
        state.kept?.renewMs = nowMs + Self.retryMs
        return (state.waiting, Answer.success(old.credential))
      }
      return (state.waiting, answer)
    }
    for box in waiting { box.put(answer) }
    return answer
  }

  private func kept(_ fresh: Fresh, _ nowMs: Int64) -> Kept {
    guard let validMs = fresh.validMs else { return Kept(credential: fresh.credential) }
    let ahead = min(aheadMs, max(0, validMs / 2))
    return Kept(credential: fresh.credential, renewMs: nowMs + validMs - ahead, endMs: nowMs + validMs)
  }
}

extension Mailbox {
  /// The first that comes. Blocking.
  /// - Parameter isOver: asked ten times a second whether anybody still waits.
  /// - Throws: `engine.interrupted` when nobody does.
  func take(until isOver: () -> Bool) throws(Failure) -> Element {
    while !isOver() {
      if let first = take(timeoutMs: 100)?.first { return first }
    }
    throw Failure(.engineInterrupted, "stopped while a credential was waited for")
  }
}
