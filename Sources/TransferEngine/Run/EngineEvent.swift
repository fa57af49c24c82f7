import TransferLedger
import TransferModel
import TransferProtocols

/// Events posted to the engine's loop by other threads.
enum EngineEvent: Sendable {
  case claimed(Result<[ClaimedFile], TransferError>)
  case committed(Result<[Begun], TransferError>, [FileUnit], isRepeat: Bool)
  case abandoned(Result<AbandonedFile, TransferError>, FileID, reason: String)
  case abort(SessionAborts.Event)
  case prepared(PendingRequest.ID, Result<Prepared, PreparationFailure>)
  case replied(PendingRequest.ID, TransferReply)
  case read(PendingRequest.ID, ReplyReading.Result)
  case heard(PendingRequest.ID, InterimReply)
  case placed(FileID, FileProof, Result<Placed, Failure>)
  case localWorkEnded(FileUnit)
  case reused(FileID, FileProof, Result<Reused, Failure>)
  case knownSessions(Result<Set<String>, TransferError>, ListedSessions)
  /// Whether another upload has the name of a new one.
  case lookedUp(Result<Bool, TransferError>, GivenUpload)
  case examined(Result<Interpretation, TransferError>, ListedPages)
  case heartbeat(Result<TransitionResult, TransferError>)
  case counted(Result<WorkSize, TransferError>)
  case markedOverdue(Result<OverduePart, TransferError>)
  case postponed(Result<Int, TransferError>)
  case networkWaitsEnded(Result<WaitingFile?, TransferError>)
  case looked(Result<SourceLooks.Result, TransferError>)
  case removed(Result<Int, TransferError>)
  case diskTrouble(TransferError)
  case stop(StopSignal.Level)
}
