import TransferLedger
import TransferModel
import TransferProtocols

/// One answer for all files of a destination: it is asked a few times, not once for each file.
extension EngineLoop {
  /// What a refusal means for the file, in place of what it would mean if the file were at fault.
  func weighed(_ meaning: Interpretation, _ job: Job, _ reply: TransferReply) -> Interpretation {
    let refusals = job.destination.refusals
    guard case .failed(let failure, let remedy) = meaning.outcome else {
      if (200..<300).contains(reply.status) { refusals.watch.succeeded() }
      return meaning
    }
    guard reply.status >= 400, failure.code.isOfDestination, remedy == .permanent || remedy == .refreshCredential else {
      return meaning
    }
    let isAboutCredential = failure.code.blame == .auth && !job.destination.resolved.credentials.label.isEmpty
    let generation = isAboutCredential ? job.credentialGeneration : nil
    switch refusals.watch.refused(failure, file: job.file, generation: generation) {
    case .readCredential: return meaning.with(.failed(failure, .refreshCredential))
    case .sendAgain: return meaning.with(.failed(failure, .repair))
    case .wait: return meaning.with(.failed(failure, .hold))
    case .hold:
      hold(refusals, failure)
      return meaning.with(.failed(failure, .hold))
    case .fileAtFault: return meaning.with(.failed(failure, .permanent))
    }
  }

  /// The files of all batches for that destination wait for another run.
  private func hold(_ refusals: DestinationRefusals, _ failure: Failure) {
    let isAuth = failure.code.blame == .auth
    let error = TransferError(
      isAuth ? .auth : .config, "send to", NameBytes(refusals.settings.destination), cause: failure.message,
      remedy: isAuth
        ? "put the credentials right and run \"transfers run\""
        : "make it or correct the destination, then run \"transfers run\"")
    refusals.error = error
    for destination in batches.all where destination.refusals === refusals { block(destination.batch, error) }
  }
}

extension ErrorCode {
  /// The reason may be the destination's, and that of all its files.
  fileprivate var isOfDestination: Bool {
    switch self {
    case .authRefused, .authExpired, .protoNoDestination: true
    default: false
    }
  }
}
