import TransferEngine
import TransferModel
import TransferProtocols

/// Asks the hook of the program, and what is recorded with the batch where that has nothing to say. Called on threads
/// that may block, several at a time: one of them asks, the others wait for its answer.
final class HookedCredential: CredentialSource {
  private typealias Answer = Result<Credential?, Failure>

  private struct State {
    var known: (credential: Credential, untilMs: Int64?)?
    var isAsking = false
    var waiting: [Mailbox<Answer>] = []
    var reason = CredentialRequest.Reason.first
  }

  private let hook: CredentialHook
  private let recorded: any CredentialSource
  private let destination: String
  private let kind: CredentialRequest.Kind
  private let clock: any TransferClock
  private let state = Lock(State())

  init(
    _ hook: @escaping CredentialHook, for destination: String, _ kind: CredentialRequest.Kind,
    otherwise recorded: any CredentialSource, clock: any TransferClock = SystemClock()
  ) {
    (self.hook, self.destination, self.kind) = (hook, destination, kind)
    (self.recorded, self.clock) = (recorded, clock)
  }

  /// Connections are not shared with other destinations.
  var label: String { "the program, for \(destination)" }

  func refresh() {
    state.withLock { state in
      if state.known != nil { state.reason = .refused }
      state.known = nil
    }
    recorded.refresh()
  }

  func credential() throws(Failure) -> Credential? {
    switch state.withLock({ next(&$0) }) {
    case .known(let credential): return credential
    case .wait(let box):
      guard let answer = box.take()?.first else { throw Failure(.authMissing, "the program gave no credential") }
      return try answer.get()
    case .ask(let reason): return try ask(reason).get()
    }
  }

  private enum Step {
    case known(Credential)
    case wait(Mailbox<Answer>)
    case ask(CredentialRequest.Reason)
  }

  private func next(_ state: inout State) -> Step {
    if let known = state.known {
      if known.untilMs.map({ clock.bootMs < $0 }) ?? true { return .known(known.credential) }
      (state.known, state.reason) = (nil, .expired)
    }
    if state.isAsking {
      let box = Mailbox<Answer>()
      state.waiting.append(box)
      return .wait(box)
    }
    state.isAsking = true
    return .ask(state.reason)
  }

  /// Asks without the lock, and tells all who wait.
  private func ask(_ reason: CredentialRequest.Reason) -> Answer {
    let request = CredentialRequest(destination: destination, kind: kind, reason: reason)
    let (answer, known) = judge(call(request), request)
    let waiting = state.withLock { state in
      defer { (state.isAsking, state.waiting) = (false, []) }
      state.known = known
      return state.waiting
    }
    for box in waiting { box.put(answer) }
    return answer
  }

  /// A Swift task runs the hook; this thread is none of its pool and may wait for it.
  private func call(_ request: CredentialRequest) -> Result<SuppliedCredential?, any Error> {
    let box = Mailbox<Result<SuppliedCredential?, any Error>>()
    Task { [hook] in
      do { box.put(.success(try await hook(request))) } catch { box.put(.failure(error)) }
    }
    return box.take()?.first ?? .success(nil)
  }

  private func judge(
    _ supplied: Result<SuppliedCredential?, any Error>, _ request: CredentialRequest
  ) -> (Answer, known: (credential: Credential, untilMs: Int64?)?) {
    do throws(Failure) {
      guard let given = try Self.value(supplied) else { return (.success(try recorded.credential()), nil) }
      let credential = try request.checked(given)
      let untilMs = given.validFor.map { clock.bootMs + $0.milliseconds }
      return (.success(credential), (credential, untilMs))
    } catch {
      return (.failure(error), nil)
    }
  }

  /// The text of a foreign error may hold a secret: only its type is told.
  private static func value(
    _ supplied: Result<SuppliedCredential?, any Error>
  ) throws(Failure) -> SuppliedCredential? {
    switch supplied {
    case .success(let value): return value
    case .failure(let error as TransferError): throw Failure(.authMissing, error.cause)
    case .failure(let error):
      throw Failure(.authMissing, "the program could not give a credential: \(type(of: error))")
    }
  }
}

extension Duration {
  /// Rounded down; at most what a counter holds.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000)
    return isTooMuch ? (seconds < 0 ? .min : .max) / 2 : whole + attoseconds / 1_000_000_000_000_000
  }
}
