import TransferLedger
import TransferModel
import TransferProtocols

/// The last changes of a file that is released before it is done. A value.
struct FileRelease {
  let ending: FileEnding
  let sessionFate: SessionFate
  /// Its row is `finishing`.
  let isFinishing: Bool
  /// Each chunk has an upload of its own.
  let preparesChunks: Bool
  /// Its next step needs no server.
  let isPlaceable: Bool

  var changes: [FileChange] { sessionChanges + endChanges }

  private var sessionChanges: [FileChange] {
    guard case .lost(let session) = sessionFate else { return [] }
    // The ledger accepts no changes of a finishing file. If chunks have uploads of their own, those that still exist
    // are aborted.
    let isLeft = preparesChunks || session == .useless
    let end = isLeft ? FileChange.giveUpSession : .endSession(.gone)
    // The chunks of a duplicate are not changed, so that the ledger can check that none of them may have arrived.
    return (isFinishing ? [.resumeSending] : []) + [end] + (ending.isDuplicate ? [] : [.resetChunks])
  }

  private var endChanges: [FileChange] {
    switch ending {
    case .fail(let failure, let keepsSession): [.fail(failure.code, failure.message, keepsSession: keepsSession)]
    case .unknown(let failure): [.unknown(failure.code, failure.message)]
    case .supersede(let identity, let notBeforeMs): [.supersede(identity, notBeforeMs: notBeforeMs)]
    case .duplicate(let other): [.endDuplicate(other)]
    case .gone(let reason): [.endGone(reason)]
    case .release(let dueMs, let code, let isFailure): recut + [release(dueMs, code, isFailure: isFailure)]
    }
  }

  private var recut: [FileChange] {
    guard case .recut(let layout) = sessionFate else { return [] }
    return [.giveUpSession, .resetChunks, .recut(layout)]
  }

  /// A file that waits without its own cause waits for its server. Placing does not need the server.
  private func release(_ dueMs: Int64?, _ code: ErrorCode?, isFailure: Bool) -> FileChange {
    let isLost = if case .lost = sessionFate { true } else { false }
    let notBeforeMs = isPlaceable && code == nil && !isLost ? nil : dueMs
    return .release(notBeforeMs: notBeforeMs, code, isFailure: isFailure)
  }
}
