import TransferModel
import TransferProtocols

/// An attempt whose request we stopped ourselves, or never sent. This is not a failure of the file.
struct InterruptedAttempt {
  let request: BegunRequest
  let mayHaveArrived: Bool

  /// Returns the changes that belong to the end of the attempt.
  func end(_ machine: inout FileMachine) -> [FileChange] {
    machine.close(request)
    let failure = Failure(.engineInterrupted, "stopped while waiting for its answer; it may have taken effect")
    let isInDoubt = mayHaveArrived && machine.abilities.unrepeatable.contains(request.step.operation)
    if isInDoubt { machine.endInDoubt(failure) }
    guard let chunk = request.chunk else { return [] }
    return [isInDoubt ? .chunkUnknown(chunk, request.attempt) : .releaseChunk(chunk, request.attempt)]
  }
}
