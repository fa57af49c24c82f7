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
  func weighed(_ meaning: Interpretation, of job: Job, status: Int) -> Interpretation {
    guard case .failed(let failure, let remedy) = meaning.outcome else {
      if (200..<300).contains(status) { succeeded() }
      return meaning
    }
    guard status >= 400, failure.code.isOfDestination, remedy == .permanent || remedy == .refreshCredential else {
      return meaning
    }
    let isAboutCredential = failure.code.blame == .auth && !job.destination.resolved.credentials.label.isEmpty
    let generation = isAboutCredential ? job.credentialGeneration : nil
    switch watch.refused(failure, file: job.file, generation: generation) {
    case .readCredential: return meaning.with(.failed(failure, .refreshCredential))
    case .sendAgain: return meaning.with(.failed(failure, .repair))
    case .wait: return meaning.with(.failed(failure, .hold))
    case .hold:
      hold(failure)
      return meaning.with(.failed(failure, .hold))
    case .fileAtFault: return meaning.with(.failed(failure, .permanent))
    }
  }

  private func succeeded() {
    watch.succeeded()
    error = nil
  }

  private func hold(_ failure: Failure) {
    let isAuth = failure.code.blame == .auth
    error = TransferError(
      isAuth ? .auth : .config, "send to", NameBytes(settings.destination), cause: failure.message,
      remedy: isAuth
        ? "fix the credentials, then run \"transfers run\""
        : "create it or correct the destination, then run \"transfers run\"")
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
