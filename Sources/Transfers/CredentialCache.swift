import TransferEngine
import TransferModel
import TransferProtocols

/// Caches a credential until it is about to expire. Several threads, all of which may block, can request it at once:
/// one of them obtains a new one; the others use the old one while it is valid, otherwise they wait for the result.
final class CredentialCache: Sendable {
  typealias Reason = CredentialRequest.Reason
  typealias Answer = Result<Credential?, Failure>

  /// A credential that was just obtained.
  struct Fresh: Sendable {
    var credential: Credential
    /// How long it is valid, in milliseconds; nil if it does not expire.
    var validMs: Int64?
  }

  private struct Kept {
    var credential: Credential
    /// When it is renewed although still valid, and when it is no longer used: milliseconds of the boot clock.
    var renewMs: Int64?
    var endMs: Int64?
  }

  private struct State {
    var kept: Kept?
    var isAsking = false
    var waiting: [Mailbox<Answer>] = []
    var reason = Reason.first
  }

  /// The delay in milliseconds from a failed renewal to the next one, while the old credential is valid.
  private static let retryMs: Int64 = 60_000

  private let clock: any TransferClock
  private let aheadMs: Int64
  private let state = Lock(State())

  /// - Parameter aheadMs: how long before its expiry a credential is renewed, in milliseconds; limited to half of its
  ///   lifetime.
  init(_ clock: any TransferClock = SystemClock(), aheadMs: Int64) { (self.clock, self.aheadMs) = (clock, aheadMs) }

  /// The cached credential if it is valid; nil if one has to be requested. Never blocks.
  var held: HeldCredential? {
    let nowMs = clock.bootMs
    return state.withLock { state in
      guard let kept = state.kept, kept.endMs.map({ nowMs < $0 }) ?? true else { return nil }
      return HeldCredential(kept.credential, isDue: !state.isAsking && kept.renewMs.map { nowMs >= $0 } ?? false)
    }
  }

  /// Forgets the credential after a server refused it.
  func forget() {
    state.withLock { state in
      if state.kept != nil { state.reason = .refused }
      state.kept = nil
    }
  }

  /// The cached credential, or else the result of `read`, which is cached until it is refused. Otherwise the same as
  /// ``credential(isOver:_:)``.
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

  /// The cached credential, or else the result of `ask`. If that has nil in place of ``Fresh``, its answer is only for
  /// this caller and those already waiting, and is not cached.
  /// - Parameter isOver: called several times a second; true when this caller no longer waits.
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

  /// Caches the result and passes it to all waiting callers. After a failed renewal, the old credential is kept while
  /// it is valid.
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
    return Kept(credential: fresh.credential, renewMs: nowMs +| validMs -| ahead, endMs: nowMs +| validMs)
  }
}

extension Mailbox {
  /// The first element that arrives. Blocking.
  /// - Parameter isOver: called ten times a second; true when nobody waits any longer.
  /// - Throws: `engine.interrupted` when nobody waits any longer.
  func take(until isOver: () -> Bool) throws(Failure) -> Element {
    while !isOver() {
      if let first = take(timeoutMs: 100)?.first { return first }
    }
    throw Failure(.engineInterrupted, "stopped while waiting for a credential")
  }
}
