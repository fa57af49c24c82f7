public import TransferModel

/// The rows of the ledger inside one write transaction. Every method is one named, guarded transition, or a read. Only
/// valid inside the body that it was given to.
public struct LedgerTransaction {
  let db: Connection
  /// The wall-clock time of this transaction, in milliseconds since 1970 UTC.
  public let wallMs: Int64

  func beginRun(_ run: NewRun) throws -> RunID { fatalError("unfinished") }

  public func heartbeat(_ run: RunID) throws -> TransitionResult { fatalError("unfinished") }
  public func endRun(_ run: RunID, how: String) throws -> TransitionResult { fatalError("unfinished") }
  public func recover(_ run: RunID) throws -> Recovery { fatalError("unfinished") }

  public func createBatch(_ batch: NewBatch) throws -> BatchCreation { fatalError("unfinished") }
  public func admit(_ file: NewFile, to batch: BatchID) throws -> Admission { fatalError("unfinished") }
  public func admitFailed(
    path: NameBytes, key: NameBytes, code: ErrorCode, message: String, to batch: BatchID
  ) throws -> FileID { fatalError("unfinished") }

  public func claimFiles(_ run: RunID, limit: Int) throws -> [ClaimedFile] { fatalError("unfinished") }
  public func plan(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func beginChunks(
    _ file: FileID, _ run: RunID, limit: Int, isRepeatable: Bool
  ) throws -> [ClaimedChunk] { fatalError("unfinished") }
  public func beginAttempt(
    _ file: FileID, _ run: RunID, _ operation: AttemptOperation, session: SessionID?, isRepeatable: Bool
  ) throws -> AttemptID { fatalError("unfinished") }
  public func intendSession(_ file: FileID, _ run: RunID) throws -> SessionID { fatalError("unfinished") }

  public func endAttempt(_ attempt: AttemptID, _ run: RunID, _ result: AttemptResult) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func storeChunk(_ chunk: ChunkID, _ attempt: AttemptID, _ part: StoredPart) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func retryChunk(_ chunk: ChunkID, _ attempt: AttemptID, notBeforeMs: Int64) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func returnChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func failChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult { fatalError("unfinished") }
  public func chunkUnknown(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func disownChunks(_ file: FileID, _ run: RunID, seqs: [Int]) throws -> Int { fatalError("unfinished") }
  public func resetChunks(_ file: FileID, _ run: RunID) throws -> Int { fatalError("unfinished") }
  public func openSession(
    _ session: SessionID, _ run: RunID, remoteID: String, expiresAtMs: Int64?
  ) throws -> TransitionResult { fatalError("unfinished") }
  public func endSession(_ session: SessionID, _ state: SessionState) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func startFinishing(_ file: FileID, _ run: RunID) throws -> TransitionResult { fatalError("unfinished") }
  public func resumeSending(_ file: FileID, _ run: RunID) throws -> TransitionResult { fatalError("unfinished") }
  public func completeFile(_ file: FileID, _ run: RunID, _ receipt: FileReceipt) throws -> TransitionResult {
    fatalError("unfinished")
  }
  public func requeueFile(
    _ file: FileID, _ run: RunID, notBeforeMs: Int64?, code: ErrorCode?, isFailure: Bool
  ) throws -> TransitionResult { fatalError("unfinished") }
  public func failFile(
    _ file: FileID, _ run: RunID, code: ErrorCode, message: String, keepsSession: Bool
  ) throws -> TransitionResult { fatalError("unfinished") }
  public func markUnknown(
    _ file: FileID, _ run: RunID, code: ErrorCode, message: String
  ) throws -> TransitionResult { fatalError("unfinished") }
  public func supersede(
    _ file: FileID, _ run: RunID, by identity: SourceIdentity, notBeforeMs: Int64?
  ) throws -> FileID { fatalError("unfinished") }
  public func claimAborts(_ run: RunID, limit: Int) throws -> [AbortWork] { fatalError("unfinished") }
  public func parts(of file: FileID) throws -> [StoredPartRow] { fatalError("unfinished") }

  public func retryFiles(_ selection: FileSelection, resetsFailures: Bool) throws -> Int { fatalError("unfinished") }
  public func recordEvent(_ verb: String, batch: BatchID?, file: FileID?, detail: String) throws {
    fatalError("unfinished")
  }
}
