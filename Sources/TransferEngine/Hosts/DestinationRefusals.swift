import TransferModel
import TransferProtocols

/// Refusals of a destination by the batches with the same settings: the destination is tried a few times, not once for
/// each file. Owner of the ``RefusalWatch``.
final class DestinationRefusals {
  let settings: BatchSettings
  private var watch = RefusalWatch()
  /// Why they are held back.
  private(set) var error: TransferError?

  init(settings: BatchSettings) { self.settings = settings }

  /// How often the credentials were read again.
  var generation: Int { watch.generation }

  /// The interpretation of a refusal for the file, if the file may not be at fault. Sets ``error`` if the destination
  /// accepts nothing for now, and clears it when a running request succeeds after all.
  func weighed(_ meaning: Interpretation, of pending: PendingRequest, _ reply: TransferReply) -> Interpretation {
    // The file continues at another place, whoever refused this one.
    if case .failed(_, .elsewhere) = meaning.outcome { return meaning }
    if let failure = reply.proxyRefusal {
      if pending.isForItsOrigin { return weighed(meaning, failure, of: pending, isOfProxy: true) }
      // It forbids a mirror, or the target of a redirect, which other files may not need.
      guard case .failed(let itsOwn, .refreshCredential) = meaning.outcome else { return meaning }
      return meaning.with(.failed(itsOwn, .permanent))
    }
    guard case .failed(let failure, let action) = meaning.outcome else {
      if (200..<300).contains(reply.status) { succeeded() }
      return meaning
    }
    guard reply.status >= 400, failure.code.isOfDestination, action == .permanent || action == .refreshCredential else {
      return meaning
    }
    return weighed(meaning, failure, of: pending, isOfProxy: false)
  }

  private func weighed(
    _ meaning: Interpretation, _ failure: Failure, of pending: PendingRequest, isOfProxy: Bool
  ) -> Interpretation {
    let isAboutCredential =
      !isOfProxy && failure.code.category == .auth && !pending.destination.resolved.credentials.label.isEmpty
    let generation = isAboutCredential ? pending.credentialGeneration : nil
    switch watch.refused(failure, file: pending.file, generation: generation) {
    case .readCredential: return meaning.with(.failed(failure, .refreshCredential))
    case .sendAgain: return meaning.with(.failed(failure, .repair))
    case .wait: return meaning.with(.failed(failure, .hold))
    case .hold:
      if isOfProxy { holdForProxy(failure) } else { hold(failure) }
      return meaning.with(.failed(failure, .hold))
    case .fileAtFault: return meaning.with(.failed(failure, .permanent))
    }
  }

  private func succeeded() {
    watch.succeeded()
    error = nil
  }

  private func holdForProxy(_ failure: Failure) {
    error = TransferError(
      .auth, operation, NameBytes(settings.destination), cause: String(failure.message.prefix { $0 != ";" }),
      remedy: "correct the proxy in the environment (http_proxy, https_proxy, no_proxy), then run \"transfers run\"")
  }

  private func hold(_ failure: Failure) {
    let isAuth = failure.code.category == .auth
    error = TransferError(
      isAuth ? .auth : .config, operation, NameBytes(settings.destination), cause: failure.message,
      remedy: isAuth
        ? "fix the credentials, then run \"transfers run\""
        : settings.download == nil
          ? "create it or correct the destination, then run \"transfers run\""
          : "correct the URL, and cancel the batch with \"transfers cancel --batch\"")
  }

  private var operation: String { settings.download == nil ? "send to" : "fetch from" }
}

extension PendingRequest {
  /// Its request went to the origin of its destination, not to a mirror or to the target of a redirect elsewhere.
  fileprivate var isForItsOrigin: Bool {
    guard place == 0, let target = routeWhenSent?.place else { return place == 0 }
    return WebOrigin(url: target)?.description == host
  }
}

extension TransferReply {
  /// The proxy requires credentials or does not allow the destination, so that nothing reached the server; nil for all
  /// other answers. It does so with its answer to CONNECT, or to a request for `http` (407, RFC 9110 section 15.5.8).
  var proxyRefusal: Failure? {
    guard bodyFailure == nil, !isCancelled else { return nil }
    if status == 407 { return Failure(.authRefused, "the proxy asks for credentials (it answered 407)") }
    guard (400..<500).contains(proxyStatus), ![408, 425, 429].contains(proxyStatus) else { return nil }
    return transportFailure
  }
}

extension ErrorCode {
  /// The cause may concern the destination, and therefore all of its files.
  fileprivate var isOfDestination: Bool {
    switch self {
    case .authRefused, .authExpired, .protoNoDestination: true
    default: false
    }
  }
}
